//! 棋例 (RULES.md §5).
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Outcome, Referee, Turn};
use selfplay::rules::{Position, Ruleset, World, judge_repetition};

#[test]
fn shared() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/adjudication.jsonl"
    );
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: {path} is absent");
        return;
    };
    let (mut agree, mut all) = (0, 0);
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let (moves, fen) = (
            case["moves_3fold"].as_str().unwrap(),
            case["fen"].as_str().unwrap(),
        );
        let rules = Ruleset::by_name("xiangqi").unwrap();
        let mut world = World::from_position(Position::from_fen(rules, fen).unwrap());
        let mut rng = Pcg64Mcg::seed_from_u64(0);
        let mut first = None;
        let mut checks = vec![];
        let total = moves.split_whitespace().count();
        for (i, mv) in moves.split_whitespace().enumerate() {
            world.try_apply(mv.parse().unwrap(), &mut rng).unwrap();
            if let Some(c) = world
                .position(Color::Red)
                .in_check()
                .then_some(world.position(Color::Red).turn().other())
            {
                checks.push((i + 1, c));
            }
            if first.is_none()
                && let Turn::Over(e) = world.turn()
            {
                first = Some((i + 1, e));
            }
        }
        let text = |o| match o {
            Outcome::Win(Color::Red) => "red_wins",
            Outcome::Win(_) => "black_wins",
            Outcome::Draw => "draw",
        };
        let last = judge_repetition(world.position(Color::Red), world.history(Color::Red));
        let l = last.map(|r| r.ending);
        let lv = l.map(|e| text(e.outcome));
        let expected = case["expected"].as_str();
        all += 1;
        if let Some(l) = last
            && l.offence(Color::Red).is_some()
            && l.offence(Color::Black).is_some()
        {
            eprintln!(
                "BOTH {} {:?} {:?}/{:?}\n  {fen} {}",
                case["id"],
                expected,
                l.chased_by(Color::Red).collect::<Vec<_>>(),
                l.chased_by(Color::Black).collect::<Vec<_>>(),
                case["cycle"]
            );
        }
        if let Some(l) = last
            && !checks.is_empty()
            && l.ending.reason != selfplay::game::Reason::PerpetualCheck
        {
            for c in [Color::Red, Color::Black] {
                let n = checks
                    .iter()
                    .filter(|x| x.1 == c && x.0 > total - l.plies)
                    .count();
                if n > 0 && l.offence(c).is_some() {
                    eprintln!(
                        "CHECKS {} by {c:?} {n} of {} expected {expected:?}",
                        case["id"],
                        l.plies / 2
                    );
                }
            }
        }
        if first.map(|f| text(f.1.outcome)) != lv {
            eprintln!("FIRST != LAST {}: {first:?} {total} {l:?}", case["id"]);
        }
        if lv == expected {
            agree += 1
        } else {
            eprintln!(
                "{} {} expected {expected:?} got {l:?} chased {:?}\n  {fen}\n  cycle {}",
                case["id"],
                case["note"],
                last.map(|l| (
                    l.chased_by(Color::Red).collect::<Vec<_>>(),
                    l.chased_by(Color::Black).collect::<Vec<_>>()
                )),
                case["cycle"]
            );
        }
    }
    eprintln!("{agree} of {all}");
}
