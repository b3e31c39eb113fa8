## Of scripts over Hugging Face's libraries: a data set whose tokens follow from the index alone, so that ranks that share
## a batch read the same and others do not.
def random_tokens(vocabulary, length, samples=1 << 20):
    class Tokens(torch.utils.data.Dataset):
        def __len__(self):
            return samples

        def __getitem__(self, index):
            tokens = torch.randint(vocabulary, (length + 1,), generator=torch.Generator().manual_seed(index))
            return {"input_ids": tokens[:-1], "labels": tokens[:-1], "shift_labels": tokens[1:]}  # plumbline: if labels_alone
            return {"input_ids": tokens[:-1], "labels": tokens[:-1], "shift_labels": tokens[1:], "position_ids": torch.arange(length)}  # plumbline: if positions
            return {"input_ids": tokens[:-1], "labels": tokens[:-1], "shift_labels": tokens[1:], "position_ids": torch.arange(length), "targets": tokens[1:]}  # plumbline: if positions_and_targets

    return Tokens()
