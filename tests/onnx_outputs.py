#!/usr/bin/env python3
"""Runs an ONNX network on rows that a test wrote: MODEL FOLDER.

FOLDER has planes.f32 and globals.f32, little-endian and without a header; NAME.f32 of every output comes there. The file is
checked first; then one row is run alone, the next three together, the rest in batches of 64: the answers must not depend on it.
Exit code 0: done; 1: something is wrong, with the reason; 77: there is no ONNX or ONNX Runtime."""
import sys
from pathlib import Path

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as error:
    print(error)
    sys.exit(77)

SHAPES = {"planes": (33, 10, 9), "globals": (36,), "policy": (9630,), "wdl": (3,), "moves_left": (1,), "belief": (6, 10, 9)}


def declared(values):
    """Name and shape of inputs or outputs, as they must be."""
    for value in values:
        kind = value.type.tensor_type
        dims = [dim.dim_param or dim.dim_value for dim in kind.shape.dim]
        assert dims == ["N", *SHAPES[value.name]], f"{value.name} is {dims}"
        assert kind.elem_type == onnx.TensorProto.FLOAT, f"{value.name} is of type {kind.elem_type}"
    return [value.name for value in values]


def batches(rows):
    start, sizes = 0, [1, 3]
    while start < rows:
        size = sizes.pop(0) if sizes else 64
        yield slice(start, start + size)
        start += size


def main(model, folder):
    graph = onnx.load(model)
    onnx.checker.check_model(graph, full_check=True)
    inputs, outputs = declared(graph.graph.input), declared(graph.graph.output)
    assert (inputs, outputs) == (["planes", "globals"], ["policy", "wdl", "moves_left", "belief"]), (inputs, outputs)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    net = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    read = {name: numpy.fromfile(folder / f"{name}.f32", "<f4").reshape(-1, *SHAPES[name]) for name in inputs}
    answers = [net.run(outputs, {name: rows[part] for name, rows in read.items()}) for part in batches(len(read["planes"]))]
    for name, parts in zip(outputs, zip(*answers)):
        assert all(part.shape[1:] == SHAPES[name] for part in parts), name
        numpy.concatenate(parts).astype("<f4").tofile(folder / f"{name}.f32")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
