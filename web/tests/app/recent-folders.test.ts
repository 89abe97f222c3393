import { expect, test } from "vitest";
import { foldersFrom, MAX_FOLDERS, recentFolders } from "../../src/app/recent-folders.js";
import type { SessionInfo } from "../../src/protocol/api.js";

const session = (cwd: string, createdMs: number): SessionInfo =>
  ({ cwd, createdMs }) as unknown as SessionInfo;

test("what was chosen here comes first, then the folders of sessions, the latest first", () => {
  const sessions = [session("/old", 1), session("/new", 3), session("/mine", 2), session("", 4)];

  expect(recentFolders(["/mine"], sessions)).toEqual(["/mine", "/new", "/old"]);
});

test("there are never more than a list has room for", () => {
  const many = Array.from({ length: 50 }, (_, at) => session(`/${at}`, at));

  expect(recentFolders([], many)).toHaveLength(MAX_FOLDERS);
});

test.each([null, "", "{", "[]", "7", "null", '{"h": 7}', '{"h": [7, null]}'])(
  "nothing is read from %j",
  (stored) => {
    expect(Object.values(foldersFrom(stored)).flat()).toEqual([]);
  },
);

test("what was stored is read", () => {
  expect(foldersFrom('{"h": ["/a", "/b"]}')).toEqual({ h: ["/a", "/b"] });
});
