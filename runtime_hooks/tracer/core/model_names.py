"""Names tensors by their place in the program's modules; run inside the traced program, for a report.

In:  `request`, JSON: {"tensors": [[TensorImpl address, StorageImpl address or 0], ...]}
Out: `answer`, JSON: {"names": [name or null, ...], "model": [[name, device], ...]}

A tensor that shares its storage with a parameter (a view such as `weight.t()`) has the parameter's name.
Only the library's own bookkeeping is read: no module of the program runs.
"""


def _answer(request):
    import gc
    import json
    import sys

    tensors = json.loads(request)["tensors"]
    names = [None] * len(tensors)
    nn = sys.modules.get("torch.nn")
    if nn is None:
        return json.dumps({"names": names, "model": []})

    modules = [m for m in gc.get_objects()
               if issubclass(type(m), nn.Module) and "_modules" in m.__dict__ and "_parameters" in m.__dict__]
    children = {id(child) for m in modules for child in m._modules.values() if child is not None}

    def walk(module, prefix, seen):
        if id(module) in seen:
            return
        seen.add(id(module))
        for table in (module._parameters, module._buffers):
            for name, tensor in table.items():
                if tensor is not None:
                    yield prefix + name, tensor
        for name, child in module._modules.items():
            if child is not None:
                yield from walk(child, prefix + name + ".", seen)

    def storage_of(tensor):
        try:
            return tensor.untyped_storage()._cdata
        except Exception:  # a subclass or layout without a storage
            return 0

    by_tensor = {address: i for i, (address, _) in enumerate(tensors)}
    by_storage = {storage: i for i, (_, storage) in enumerate(tensors) if storage}
    exact = set()
    model = []
    for root in modules:
        if id(root) in children:
            continue
        found = list(walk(root, "", set()))
        mine = False
        for name, tensor in found:
            for table, key, is_exact in ((by_tensor, tensor._cdata, True), (by_storage, storage_of(tensor), False)):
                i = table.get(key)
                if i is None:
                    continue
                mine = True
                better = names[i] is None or (is_exact and i not in exact) or (
                    (is_exact or i not in exact) and len(name) > len(names[i]))
                if better:
                    names[i] = name
                if is_exact:
                    exact.add(i)
                break
        if mine and len(found) > len(model):
            model = [[name, str(tensor.device)] for name, tensor in found]
    return json.dumps({"names": names, "model": model})


answer = _answer(request)  # noqa: F821
