"""Tables with the columns, units and words of the command line's."""
import html


def _value(cell, is_text):
    text, number = cell
    if is_text or number is None:
        return text if is_text or text.strip(" -") else None
    return int(number) if float(number).is_integer() and "." not in text else number


class Table:
    """A table: `columns` (each an id, a title, a unit and an explanation), and rows of texts and numbers."""

    def __init__(self, data):
        self.columns = data["columns"]
        self._rows = data["rows"]

    def __len__(self):
        return len(self._rows)

    def to_rows(self):
        """A dict for each row, by the ids of the columns; numbers are in the column's unit."""
        return [{column["id"]: _value(cell, column["is_text"]) for column, cell in zip(self.columns, row)}
                for row in self._rows]

    def __str__(self):
        texts = [[column["title"] for column in self.columns]] + [[cell[0] for cell in row] for row in self._rows]
        widths = [max(map(len, column)) for column in zip(*texts)]
        left = [column["is_text"] for column in self.columns]
        return "\n".join("  ".join(text.ljust(width) if is_left else text.rjust(width)
                                   for text, width, is_left in zip(row, widths, left)).rstrip() for row in texts)

    __repr__ = __str__

    def _repr_html_(self):
        def head(column):
            unit = column["unit"]
            title = f"{column['explanation']} ({unit})" if unit not in ("", "text", "number") else column["explanation"]
            return f'<th title="{html.escape(title)}">{html.escape(column["title"])}</th>'

        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell[0])}</td>" for cell in row) + "</tr>"
                       for row in self._rows)
        return f"<table><thead><tr>{''.join(map(head, self.columns))}</tr></thead><tbody>{rows}</tbody></table>"


def words_table(columns, rows):
    """A table of words: pairs of a column's name and explanation, and a tuple of texts for each row."""
    return Table({"columns": [{"id": name, "title": name, "unit": "text", "explanation": words, "is_text": True}
                              for name, words in columns], "rows": [[(text, None) for text in row] for row in rows]})


def html_of(sentences, table):
    """Sentences above a table, for notebooks."""
    text = "".join(f"<div>{html.escape(sentence)}</div>" for sentence in sentences)
    return text + (table._repr_html_() if table is not None else "")
