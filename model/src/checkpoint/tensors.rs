//! The network's tensors in a safetensors file, by name.
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::params::{Layout, Role};

/// The tensor at fault, and what is wrong with it.
pub(crate) type Fault = (String, String);

/// The tensors `{prefix}NAME` of some roles as one flat vector.
pub(crate) fn read(
    file: &SafeTensors,
    layout: &Layout,
    prefix: &str,
    buffers: bool,
) -> Result<Vec<f32>, Fault> {
    let length = if buffers {
        layout.buffers
    } else {
        layout.params
    };
    let mut flat = vec![0.0; length];
    for (spec, &offset) in layout.specs.iter().zip(&layout.offsets) {
        if (spec.role == Role::Buffer) != buffers {
            continue;
        }
        let name = format!("{prefix}{}", spec.name);
        let Ok(view) = file.tensor(&name) else {
            return Err((name, "is missing".into()));
        };
        let shape: Vec<_> = spec.shape.iter().map(|&n| n as usize).collect();
        if view.dtype() != Dtype::F32 || view.shape() != shape {
            let what = format!(
                "is {:?} {:?}, expected F32 {shape:?}: if a version of fanqi with another network wrote it, use that version, or train anew",
                view.dtype(),
                view.shape()
            );
            return Err((name, what));
        }
        let numbers = &mut flat[offset..offset + spec.len()];
        for (x, bytes) in numbers.iter_mut().zip(view.data().chunks_exact(4)) {
            *x = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        if !numbers.iter().all(|x| x.is_finite()) {
            return Err((name, "holds a number that is not finite".into()));
        }
    }
    Ok(flat)
}

/// The views `{prefix}NAME` of a flat vector's tensors.
pub(crate) fn views<'a>(
    layout: &Layout,
    prefix: &str,
    flat: &'a [f32],
    buffers: bool,
) -> Result<Vec<(String, TensorView<'a>)>, Fault> {
    let mut tensors = Vec::new();
    for (spec, &offset) in layout.specs.iter().zip(&layout.offsets) {
        if (spec.role == Role::Buffer) != buffers {
            continue;
        }
        let name = format!("{prefix}{}", spec.name);
        let numbers = &flat[offset..offset + spec.len()];
        if !numbers.iter().all(|x| x.is_finite()) {
            let what = "holds a number that is not finite; nothing was written".into();
            return Err((name, what));
        }
        let shape = spec.shape.iter().map(|&n| n as usize).collect();
        match TensorView::new(Dtype::F32, shape, bytemuck::cast_slice(numbers)) {
            Ok(view) => tensors.push((name, view)),
            Err(error) => return Err((name, error.to_string())),
        }
    }
    Ok(tensors)
}
