//! What WebAssembly exports: a text in, a text out, and the numbers of the network, all in the module's own memory.
//!
//! The script asks [`room`] for space, writes a request there, calls [`ask`] and reads the answer at [`answer`]; the network's
//! numbers stand at [`numbers`]. Addresses hold until the next call. A module has one thread and one player. A plain interface,
//! since wasm-bindgen's would be made by a second program of just its version.
use std::cell::RefCell;

use crate::player::Player;

thread_local! {
    static PLAYER: RefCell<Player> = RefCell::default();
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Space for a request of `length` bytes: JSON of a [`Call`](crate::Call), with the bytes of a file behind it if it needs one.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        *request = vec![0; length];
        request.as_mut_ptr()
    })
}

/// Answers the request, whose JSON is the first `json` bytes; the answer's length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ask(json: usize) -> usize {
    let request = REQUEST.take();
    let (json, file) = request.split_at(json.min(request.len()));
    let answer = PLAYER.with_borrow_mut(|player| player.answer(json, file));
    let length = answer.len();
    ANSWER.set(answer);
    length
}

/// Where the answer stands, JSON: what was asked for, or `{"error": WHY}`.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// Where the network's numbers stand, f32 as [`Place`](crate::Place) says.
#[unsafe(no_mangle)]
pub extern "C" fn numbers() -> *mut f32 {
    PLAYER.with_borrow_mut(|player| player.numbers().all().as_mut_ptr())
}
