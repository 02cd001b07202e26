//! The page's files. They are the same whether a server answers the page or it runs by itself.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its name, without any folder.
    pub name: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The page itself.
pub const INDEX: &str = "index.html";
/// The board, which a run's report draws, too.
pub const BOARD_SCRIPT: &str = include_str!("../assets/board.js");
/// The colours and letters of every page.
pub const INK: &str = include_str!("../assets/ink.css");
/// How the board looks.
pub const BOARD_STYLE: &str = include_str!("../assets/board.css");

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// All of them.
pub fn files() -> impl Iterator<Item = File> {
    [
        (INDEX, HTML, include_str!("../assets/index.html")),
        ("ink.css", STYLE, INK),
        ("page.css", STYLE, include_str!("../assets/page.css")),
        ("board.css", STYLE, BOARD_STYLE),
        ("board.js", SCRIPT, BOARD_SCRIPT),
        ("words.js", SCRIPT, include_str!("../assets/words.js")),
        ("link.js", SCRIPT, include_str!("../assets/served.js")),
        ("table.js", SCRIPT, include_str!("../assets/table.js")),
        ("panels.js", SCRIPT, include_str!("../assets/panels.js")),
        ("page.js", SCRIPT, include_str!("../assets/page.js")),
        ("icon.svg", PICTURE, include_str!("../assets/icon.svg")),
    ]
    .into_iter()
    .map(|(name, kind, text)| File { name, kind, text })
}
