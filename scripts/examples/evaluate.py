# Evaluates the positions of a bundle's examples.json, and checks the answers.
# pip install numpy onnxruntime; python evaluate.py BUNDLE (without BUNDLE: the current folder)
import json, pathlib, sys
import numpy, onnxruntime

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
net = onnxruntime.InferenceSession(folder / "model.onnx")
count = net.get_inputs()[0].shape[1]
for example in json.loads((folder / "examples.json").read_text()):
    planes = numpy.zeros((1, count, 10, 9), numpy.float32)
    planes[0, count - 1] = 1  # the plane `ones`
    for plane, squares in example["planes"]:
        for square in squares:
            planes[0, plane, square // 9, square % 9] = 1
    numbers = numpy.array([example["globals"]], numpy.float32)
    policy, wdl, moves_left, belief = net.run(None, {"planes": planes, "globals": numbers})
    logits = policy[0, [move["index"] for move in example["moves"]]]
    priors = numpy.exp(logits - logits.max())
    priors /= priors.sum()
    print(example["form"], example["fen"], wdl[0], moves_left[0, 0], "plies left")
    for move, prior in list(zip(example["moves"], priors))[:3]:
        print("   ", move["move"], prior)
        assert abs(prior - move["prior"]) < 1e-4
