#!/usr/bin/env python3
"""Reads what `plan run --track` wrote with the trackers' own code; run in development, where they are installed.

Usage: check_trackers.py TENSORBOARD_DIR MLFLOW_DIR WANDB_DIR
Last run with tensorboard 2.21.0, mlflow 3.17.2, wandb 0.19.11 (whose datastore.py is the last reader in Python).
"""
import json
import pathlib
import sys


def of_tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    run = next(pathlib.Path(folder).iterdir())
    events = EventAccumulator(str(run))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars("loss")]


def of_mlflow(folder):
    from mlflow import MlflowClient
    client = MlflowClient(pathlib.Path(folder).resolve().as_uri())
    run = client.search_runs(["0"])[0]
    assert run.info.status == "FINISHED" and run.data.params["ranks"], run
    return [(metric.step, metric.value) for metric in client.get_metric_history(run.info.run_id, "loss")]


def of_wandb(folder):
    from wandb.proto import wandb_internal_pb2
    from wandb.sdk.internal import datastore
    log = datastore.DataStore()
    log.open_for_scan(str(next(pathlib.Path(folder).glob("offline-run-*/run-*.wandb"))))
    losses, kinds = [], []
    while (data := log.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        kinds.append(record.WhichOneof("record_type"))
        items = {item.nested_key[0]: json.loads(item.value_json) for item in record.history.item}
        if items:
            losses.append((items["_step"], items["loss"]))
    assert kinds[:2] == ["header", "run"] and kinds[-3:] == ["summary", "exit", "footer"], kinds
    return losses


if __name__ == "__main__":
    for name, read, folder in zip(("tensorboard", "mlflow", "wandb"), (of_tensorboard, of_mlflow, of_wandb), sys.argv[1:]):
        try:
            losses = read(folder)
        except ImportError as missing:
            print(f"{name}: skipped ({missing})")
            continue
        print(f"{name}: {len(losses)} steps, the last {losses[-1]}")
