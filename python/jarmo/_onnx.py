"""Networks of agents as ONNX models."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray


def export(tensors: dict[str, NDArray[np.float32]], path: Any) -> None:
    """Writes the network of these tensors; `jarmo.Agent.to_onnx` describes the model."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes = []

    def layer(name: str, given: str, result: str) -> str:
        nodes.append(helper.make_node("Gemm", [given, f"{name}.weight", f"{name}.bias"], [result]))
        return result

    hidden = layer("stem", "features", "stem")
    nodes.append(helper.make_node("Relu", [hidden], ["h0"]))
    blocks = sum(name.startswith("blocks.") and name.endswith(".bias") for name in tensors)
    for block in range(blocks):
        change = layer(f"blocks.{block}", f"h{block}", f"change{block}")
        nodes.append(helper.make_node("Add", [f"h{block}", change], [f"sum{block}"]))
        nodes.append(helper.make_node("Relu", [f"sum{block}"], [f"h{block + 1}"]))
    outputs = []
    for head in ("policy", "result", "score"):
        if f"{head}.bias" not in tensors:
            continue
        width = len(tensors[f"{head}.bias"])
        if head == "policy":
            layer(head, f"h{blocks}", head)
        else:
            nodes.append(helper.make_node("Softmax", [layer(head, f"h{blocks}", f"{head}_logits")], [head], axis=1))
        outputs.append(helper.make_tensor_value_info(head, TensorProto.FLOAT, ["batch", width]))
    inputs = tensors["stem.weight"].shape[0]
    graph = helper.make_graph(
        nodes,
        "jarmo",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", inputs])],
        outputs,
        [numpy_helper.from_array(np.ascontiguousarray(tensor), name) for name, tensor in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, os.fspath(path))
