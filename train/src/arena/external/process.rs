//! An engine's process.
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use play::engine::lines::{Line, Lines};
use rustix::process::{Pid, Signal, kill_process_group};

/// Lines that wait to be read; an engine that says more has to wait, too.
const BACKLOG: usize = 1024;
/// How long a process that has closed its output, or was told to quit, may take to end.
const GRACE: Duration = Duration::from_millis(500);
/// How often it is looked at meanwhile.
const NAP: Duration = Duration::from_millis(2);

/// A process whose lines are read on a thread of its own. It does not outlive this.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
    /// What it says; closed when it says no more.
    pub lines: Receiver<String>,
}

impl Process {
    /// Starts a program, found in PATH. What it says on standard error is shown.
    pub fn start(program: &str, args: &[String]) -> io::Result<Process> {
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // A group of its own: Ctrl-C is for the match, which ends its engines itself, and with it go its children.
        let mut child = command.process_group(0).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        let (sender, lines) = bounded(BACKLOG);
        thread::Builder::new().spawn(move || {
            let mut said = Lines::of(output);
            loop {
                let heard = match said.read() {
                    Ok(Line::Text(line)) => sender.send(line).is_ok(),
                    // No line of the protocol is so long.
                    Ok(Line::TooLong) => true,
                    Ok(Line::End) | Err(_) => false,
                };
                if !heard {
                    break;
                }
            }
        })?;
        Ok(Process {
            child,
            input,
            lines,
        })
    }

    /// Says lines to it. An engine reads at once, so the pipe has room.
    pub fn say(&mut self, lines: &[String]) -> io::Result<()> {
        let mut text = lines.join("\n");
        text.push('\n');
        self.input.write_all(text.as_bytes())?;
        self.input.flush()
    }

    /// How it has ended, such as `exit status: 1`; `None`: it goes on.
    pub fn end(&mut self) -> Option<String> {
        let until = Instant::now() + GRACE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status.to_string()),
                Ok(None) if Instant::now() < until => thread::sleep(NAP),
                _ => return None,
            }
        }
    }

    /// Ends it and whatever it has started.
    fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
