"""Readers of trackers' files that share nothing with what writes them: TFRecord, Weights & Biases' log, MLflow's store."""
import struct
import zlib


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(data):
    """Of a protocol buffer: (number, value), messages and strings as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    found = []
    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 2:
            size = varint()
            value = data[at:at + size]
            assert len(value) == size
            at += size
        else:
            size, form = {1: (8, "<d"), 5: (4, "<f")}[kind]
            value = struct.unpack_from(form, data, at)[0]
            at += size
        found.append((key >> 3, value))
    return found


def of(data, number):
    return [value for field, value in fields(data) if field == number]


def tensorboard(data):
    """[(step, {tag: value})] of an event file; the first record says its version."""
    records, at = [], 0
    while at < len(data):
        length = data[at:at + 8]
        size = struct.unpack("<Q", length)[0]
        body = data[at + 12:at + 12 + size]
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(length)
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked(body)
        records.append(body)
        at += 16 + size
    assert of(records[0], 3) == [b"brain.Event:2"]
    return [(of(record, 2)[0], {of(value, 1)[0].decode(): of(value, 2)[0] for value in of(of(record, 5)[0], 1)})
            for record in records[1:]]


def wandb(data):
    """The records of a log, as bytes of messages."""
    assert struct.unpack("<4sHB", data[:7]) == (b":W&B", 0xBEE1, 0)
    records, whole, at = [], b"", 7
    while at < len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        crc, size, kind = struct.unpack_from("<IHB", data, at)
        part = data[at + 7:at + 7 + size]
        assert crc == zlib.crc32(part, zlib.crc32(bytes([kind])))
        whole += part
        at += 7 + size
        if kind in (1, 4):  # the whole record, its last part
            records.append(whole)
            whole = b""
    assert not whole
    return records


def mlflow_metric(path):
    """[(step, value)] of a metric's file."""
    return [(int(step), float(value)) for _, value, step in (line.split() for line in path.read_text().splitlines())]
