import { expect, test } from "vitest";
import { Swipe } from "../../src/app/swipe.js";

const ROW = 18;

test("a finger that goes 300 pixels scrolls 16 rows of 18 pixels, however it goes (I1)", () => {
  for (const step of [1, 7, 30, 300]) {
    const swipe = new Swipe(500, 0, ROW);
    let rows = 0;
    for (let way = step; way <= 300; way += step) {
      rows += swipe.move(500 - way, way);
    }
    expect(rows).toBe(Math.trunc((Math.floor(300 / step) * step) / ROW));
  }
});

test("a finger that moves down shows what is older", () => {
  expect(new Swipe(100, 0, ROW).move(190, 50)).toBe(-5);
});

test("a finger that comes back has scrolled nothing", () => {
  const swipe = new Swipe(100, 0, ROW);

  expect(swipe.move(70, 20) + swipe.move(100, 40)).toBe(0);
});

test("a finger that rests before it leaves does not coast", () => {
  const swipe = new Swipe(500, 0, ROW);
  swipe.move(200, 100);

  expect(swipe.release(500)).toBe(false);
});

test("a slow finger does not coast", () => {
  const swipe = new Swipe(500, 0, ROW);
  swipe.move(499, 50);

  expect(swipe.release(51)).toBe(false);
});

test.each([100, 3000, 1e9])("a flick over %d pixels coasts on, and ends (I2)", (way) => {
  const swipe = new Swipe(0, 0, ROW);
  swipe.move(-way, 40);
  expect(swipe.release(50)).toBe(true);

  let rows = 0;
  let isOver = false;
  let at = 50;
  for (; !isOver && at < 10_000; at += 16) {
    const [more, ended] = swipe.coast(at);
    rows += more;
    isOver = ended;
  }
  expect(isOver).toBe(true);
  expect(at).toBeLessThan(3000);
  expect(rows).toBeGreaterThan(0);
});

test.each([4, 16, 100, 700])("a flick goes as far with a look every %d ms (I2)", (every) => {
  const swipe = new Swipe(0, 0, ROW);
  swipe.move(-200, 80);
  swipe.release(80);

  let rows = 0;
  for (let at = 80; at < 6000; at += every) {
    rows += swipe.coast(at)[0];
  }
  expect(Math.abs(rows - 24)).toBeLessThanOrEqual(1);
});
