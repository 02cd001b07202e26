//! What people call things: English, and the players' Chinese beside it.
use selfplay::game::Reason;
use serde::Serialize;

/// A name in both languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// English, as within a sentence.
    pub english: String,
    /// Chinese; empty where players have no word for it.
    pub chinese: String,
}

impl Label {
    /// A name of two texts.
    pub fn new(english: impl Into<String>, chinese: impl Into<String>) -> Label {
        Label {
            english: english.into(),
            chinese: chinese.into(),
        }
    }
}

/// Why a game ended.
pub fn reason(reason: Reason) -> Label {
    let chinese = match reason {
        Reason::Checkmate => "将死",
        Reason::Stalemate => "困毙",
        Reason::NaturalLimit => "自然限着",
        Reason::DeadPosition => "双方无攻子",
        Reason::Repetition => "循环和棋",
        Reason::PerpetualCheck => "长将",
        Reason::PerpetualChase => "长捉",
        Reason::PerpetualAttack => "长打",
        Reason::Resignation => "认输",
        Reason::PlyCap => "步数上限",
        Reason::GameRule => "",
    };
    Label::new(reason.to_string().replace('_', " "), chinese)
}

/// The form of that name.
pub fn form(name: &str) -> Label {
    const NUMBERS: [&str; 10] = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十"];
    let number = name.strip_prefix("fanqi-").and_then(|n| n.parse().ok());
    match (name, number) {
        ("xiangqi", _) => Label::new("Xiangqi", "象棋"),
        ("jieqi", _) => Label::new("Jieqi", "揭棋"),
        (_, Some(number @ 1..=10usize)) => Label::new(
            format!("Fanqi {number}"),
            format!("翻棋下法{}", NUMBERS[number - 1]),
        ),
        _ => Label::new(name, ""),
    }
}

/// An opponent of the matches, by the name that their table has.
pub fn opponent(name: &str) -> Label {
    let chinese = match name.split([':', ' ']).next() {
        Some("random") if name == "random" => "随机走子",
        Some("random") => "随机布阵",
        Some("greedy") => "贪吃子",
        Some("alphabeta") => "阿尔法-贝塔搜索",
        Some("first") => "最初的网络",
        _ => "",
    };
    Label::new(name, chinese)
}
