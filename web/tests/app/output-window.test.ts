import { expect, test } from "vitest";
import { OutputWindow } from "../../src/app/output-window.js";

const bytes = (from: number, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, (_, at) => (from + at) % 251);

function filled(limit: number, steps: readonly number[]): [OutputWindow, number] {
  const made = new OutputWindow(limit);
  let at = 0;
  for (const step of steps) {
    made.add(at, bytes(at, step));
    at += step;
  }
  return [made, at];
}

test("a stretch is returned whole, over however many parts it goes (I1)", () => {
  const [made, end] = filled(10_000, [1, 7, 300, 2, 64]);

  for (const [from, to] of [
    [0, end],
    [3, 9],
    [8, 308],
    [end - 1, end],
    [5, 5],
  ] as const) {
    expect(made.slice(from, to)).toEqual(bytes(from, to - from));
  }
});

test("what is not all there is not returned in part (I1)", () => {
  const [made, end] = filled(100, [60, 60, 60]);

  expect(made.slice(0, 10)).toBeNull();
  expect(made.slice(end - 10, end + 1)).toBeNull();
  expect(made.slice(end, end - 10)).toBeNull();
  expect(new OutputWindow(10).slice(0, 1)).toBeNull();
});

test("it keeps no more than its limit and a part (I2)", () => {
  const [made, end] = filled(
    100,
    Array.from({ length: 500 }, () => 30),
  );

  expect(made.slice(end - 100, end)).not.toBeNull();
  expect(made.slice(end - 131, end)).toBeNull();
});

test("what is before a gap is not joined with what is after it", () => {
  const made = new OutputWindow(1000);
  made.add(0, bytes(0, 50));
  made.add(80, bytes(80, 50));

  expect(made.slice(40, 90)).toBeNull();
  expect(made.slice(10, 20)).toBeNull();
  expect(made.slice(80, 130)).toEqual(bytes(80, 50));
});
