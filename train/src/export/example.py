import json, numpy, onnxruntime

net = onnxruntime.InferenceSession("model.onnx")
for example in json.load(open("examples.json")):
    planes = numpy.zeros((1, 33, 10, 9), numpy.float32)
    planes[0, 32] = 1
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
