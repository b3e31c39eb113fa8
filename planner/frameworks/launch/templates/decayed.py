## Of scripts that construct an optimizer: its groups, of which matrices alone take weight decay, as `plan run` has it.
def decayed(parameters):
    """Matrices, and biases and norms, which no weight decay takes. What ZeRO-3 spread says its shape in ds_shape."""
    groups = {True: [], False: []}
    for parameter in parameters:
        if parameter.requires_grad:
            groups[len(getattr(parameter, "ds_shape", parameter.shape)) > 1].append(parameter)
    return [{"params": group} | ({} if decays else {"weight_decay": 0.0}) for decays, group in groups.items() if group]
