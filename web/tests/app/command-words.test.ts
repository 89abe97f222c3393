import { expect, test } from "vitest";
import { commandWords } from "../../src/app/command-words.js";

test.each([
  ["", []],
  ["   ", []],
  ["htop", ["htop"]],
  ["  npm   run dev ", ["npm", "run", "dev"]],
  ["git log --format=%h", ["git", "log", "--format=%h"]],
  [`grep "two words" 'a b'/c`, ["grep", "two words", "a b/c"]],
  [`echo ''`, ["echo", ""]],
])("%j is %j", (line, words) => {
  expect(commandWords(line)).toEqual(words);
});

test.each([
  "make | tee log",
  "cd /srv && make",
  "echo $HOME",
  'echo "$HOME"',
  "ls *.c",
  "A=1 make",
  "echo it's",
  "echo a\\ b",
  "one\ntwo",
  "cd ~/shop",
])("%j is left to a shell", (line) => {
  expect(commandWords(line)).toEqual(["sh", "-c", line]);
});
