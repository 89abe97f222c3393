"""A migration: prices as text become whole cents, a few rows at a time.

What is done is kept in the table itself, so that whoever runs it again goes on where
it stood. FACTOR says how many cents one of the currency has; it is easy to get wrong.
"""

# ruff: noqa: T201  # it talks to whoever sits at the terminal

import os
import sqlite3
import sys
import time

PAUSE = 0.2
ORDERS = 5000


def create(orders: sqlite3.Connection) -> None:
    prices = ((n, f"{n % 90 + 9}.{n % 100:02}") for n in range(1, ORDERS + 1))
    with orders:
        orders.execute("create table orders (id integer primary key, price, cents)")
        orders.executemany("insert into orders values (?, ?, null)", prices)


def undo(orders: sqlite3.Connection) -> None:
    with orders:
        undone = orders.execute("update orders set cents = null where cents not null")
    print(f"{undone.rowcount} orders are as they were")


def migrate(orders: sqlite3.Connection, batch: int) -> None:
    factor = int(os.environ["FACTOR"])
    todo = "select id, price from orders where cents is null order by id limit ?"
    while rows := orders.execute(todo, (batch,)).fetchall():
        done = [(round(float(price) * factor), number) for number, price in rows]
        with orders:
            orders.executemany("update orders set cents = ? where id = ?", done)
        (cents, number), (_, price) = done[-1], rows[-1]
        what = f"{price} EUR -> \33[1m{cents}\33[0m cents"
        print(f"order {number:>4}: {what}", flush=True)
        time.sleep(PAUSE)
    print("\33[1;32mall orders are migrated\33[0m")


def main(words: list[str]) -> None:
    with sqlite3.connect("orders.db") as orders:
        match words:
            case ["create"]:
                create(orders)
            case ["undo"]:
                undo(orders)
            case [batch]:
                migrate(orders, int(batch))
            case _:
                sys.exit("say create, undo, or how many orders at once")


try:
    main(sys.argv[1:])
except KeyboardInterrupt:
    sys.exit(130)
