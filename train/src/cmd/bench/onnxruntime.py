import sys, time
import numpy, onnxruntime

path, planes, numbers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
net = onnxruntime.InferenceSession(path, options)
print(onnxruntime.__version__, flush=True)
for line in sys.stdin:
    rows, seconds = line.split()
    rows, seconds, done = int(rows), float(seconds), 0
    inputs = {
        "planes": numpy.random.randint(0, 2, (rows, planes, 10, 9)).astype(numpy.float32),
        "globals": numpy.random.rand(rows, numbers).astype(numpy.float32),
    }
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        net.run(None, inputs)
        done += rows
    print(done / (time.perf_counter() - start), flush=True)
