//! Game records in files of their own.
#![allow(dead_code)]
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use train::records::RecordedGame;
use train::records::games::Games;

/// A game with comments and variations.
pub const CHINESE: &str = "\
[Game \"Chinese Chess\"]
[Event \"全国象棋个人赛\"]
[Red \"湖北 柳大华\"]
[Black \"河北 李来群\"]
[Result \"1-0\"]

{开局是中炮对屏风马，双方都很熟悉。}
  1. 炮二平五 马８进７ $1
  2. 马二进三 {红方也可以走兵七进一} 车９平８ (2... 卒７进１ 3. 车一进一 (3. 兵七进一 {变化里的变化}) 车９平８)
; 这一行都是注释
  3. 车一平二! 马２进３?!
  1-0
";

/// A file with that content in a folder of its own.
pub fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, content).expect("written");
    (folder, path)
}

/// All games of a file.
pub fn games_at(path: &Path) -> Vec<RecordedGame> {
    let mut games = Games::open(path).expect("readable");
    std::iter::from_fn(|| games.next_game().expect("readable")).collect()
}
