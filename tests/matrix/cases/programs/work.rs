// work.rs -- threads, a panic that is caught, and a child, in Rust
use std::{panic, process::Command, thread};

fn main() {
    let threads: Vec<_> = (1..5u64).map(|k| thread::spawn(move || (0..3_000_000u64).fold(0, |sum, n| sum ^ n.wrapping_mul(k)))).collect();
    let sums: Vec<u64> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    panic::set_hook(Box::new(|_| {}));
    let caught = panic::catch_unwind(|| { let empty: Vec<u8> = Vec::new(); empty[sums_len()] }).is_err();
    let child = Command::new("echo").arg("from a child").output().unwrap();
    println!("{:?} {} {}", sums, caught, String::from_utf8_lossy(&child.stdout).trim());
    std::process::exit(5);
}

fn sums_len() -> usize { 3 }
