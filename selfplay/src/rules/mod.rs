//! The rules of every form.
