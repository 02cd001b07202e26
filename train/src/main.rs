//! `fanqi`: the command line.
fn main() {}
