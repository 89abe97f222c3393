"""Bugs that tests have to find: in policy, parsing, attribution, crypto, processes.

The simulator runs none of this. Each bug is one that once lived: the tests of its
module passed with it (tools/mutants.py plants them).
"""

from typing import NamedTuple


class Bug(NamedTuple):
    """What to replace by what, and the tests that have to fail then."""

    name: str
    module: str
    old: str
    new: str
    tests: tuple[str, ...]


_CORE = "tests/core/"
_READ = (
    f"{_CORE}shell/test_command_line.py",
    f"{_CORE}shell/test_posix_line.py",
    f"{_CORE}shell/test_posix_words.py",
)
_STAGED = (
    f"{_CORE}provenance/test_staged.py",
    f"{_CORE}provenance/test_staged_model.py",
    f"{_CORE}provenance/test_staged_room.py",
)
_ORIGINS = (
    f"{_CORE}provenance/test_originators_doubts.py",
    f"{_CORE}provenance/test_originators_heirs.py",
)
_STANDING = (
    f"{_CORE}input/test_standing_verdict.py",
    f"{_CORE}input/test_standing_verdict_properties.py",
)
_ACTS = ("tests/mcp/test_action_tools.py",)

BUGS = (
    # ── policy and parsing ────────────────────────────────────────────────
    Bug(
        "a redirection glued to a word is lost",
        "core/shell/line_reader.py",
        "parts.redirections.append(redirection)",
        "parts.redirections, parts.words = [redirection], []",
        _READ,
    ),
    Bug(
        "a rule about an originator alone fits any exec",
        "core/policy/policy.py",
        "if wanted.originator is not None or wanted.kinds or wanted.things:",
        "if wanted.kinds or wanted.things:",
        (f"{_CORE}policy/test_exec_command.py", f"{_CORE}policy/test_resolved.py"),
    ),
    Bug(
        "exact is ignored in what is carried",
        "core/policy/command_words.py",
        "and (not self.exact or any(_passes(s, sight) for s in self.exact))",
        "and True",
        (f"{_CORE}policy/test_command_words.py",),
    ),
    Bug(
        "globs are ignored in what is carried",
        "core/policy/command_words.py",
        "return globs.may_be_in(sight.joined) and any(map(globs.fit, sight.distinct))",
        "return globs.may_be_in(sight.joined)",
        (f"{_CORE}policy/test_command_words.py",),
    ),
    Bug(
        "a word glued to a closed descriptor is part of it",
        "core/shell/posix_words.py",
        'if text[0].isdigit() or text[0] == "-":',
        "if text[0].isdigit():",
        ("tests/shells/test_hostile_lines.py",),
    ),
    Bug(
        "a line follows the link that it has made",
        "core/policy/named_paths.py",
        "    if command.relinked:\n        return None\n",
        "",
        ("tests/docs/test_policy_spec.py",),
    ),
    Bug(
        "a wildcard finds the option that its line has made",
        "core/policy/file_access.py",
        'if word.head.startswith("-") or command.refilled:',
        'if word.head.startswith("-"):',
        ("tests/docs/test_policy_spec.py",),
    ),
    Bug(
        "a deposit of anybody's counts",
        "keeper/keeper_answers.py",
        "keeper_state.vault.deposits.get(session)\n"
        "        if kept is not None and not checks.is_same(kept.fds, fds):\n"
        '            raise errors.NotProven("")\n        if session in',
        "keeper_state.vault.deposits.get(session)\n        if session in",
        ("tests/scenarios/test_only_who_may_end_a_session_changes_it.py",),
    ),
    # ── verdicts that stand ───────────────────────────────────────────────
    Bug(
        "a verdict stands after a grant of less",
        "core/input/intake.py",
        "self.rights.give(actor, envelope)\n        self.changes += 1",
        "self.rights.give(actor, envelope)",
        _STANDING,
    ),
    Bug(
        "a verdict stands under another policy",
        "core/input/intake.py",
        "self.changes += 1\n        self.turn.adopt(rules)",
        "self.turn.adopt(rules)",
        _STANDING,
    ),
    Bug(
        "a verdict outlives the envelope",
        "core/input/standing_verdict.py",
        "            or at.wall >= verdict.until_wall\n",
        "",
        _STANDING,
    ),
    Bug(
        "a verdict about people stands for an agent",
        "core/input/standing_verdict.py",
        '            or self._kind_of(given.actor) != verdict.fields["actor_kind"]\n',
        "",
        _STANDING,
    ),
    Bug(
        "a key is pressed while echo is off",
        "holder/policy/consultation.py",
        "if self._questions.secret(given, at).is_on:",
        "if False:",
        ("tests/holder/input/test_pressed_keys.py",),
    ),
    Bug(
        "a key is written ahead whatever the policy says by now",
        "holder/input/next_key.py",
        "            or intake.changes != known.generation\n",
        "",
        ("tests/holder/input/test_next_key.py",),
    ),
    Bug(
        "something happens between a key and its input handler",
        "holder/poll.py",
        "            if self.late is not None:\n                self.interrupt()\n",
        "",
        ("tests/holder/test_poll.py",),
    ),
    Bug(
        "what is typed is taken note of only when it is booked",
        "holder/provenance/shell_commands.py",
        "if self.put_off is not None:\n            self.catch_up()\n        return",
        "return",
        ("tests/holder/input/test_pressed_keys.py",),
    ),
    Bug(
        "what the book has of a command is counted on another clock",
        "core/provenance/commands.py",
        "self._is_inherited = sent.is_inherited",
        "pass",
        (f"{_CORE}provenance/test_commands_heirs.py",),
    ),
    # ── what stands typed ─────────────────────────────────────────────────
    Bug(
        "an edited line counts as empty",
        "core/provenance/staged.py",
        "return not self.data and not self.hidden and not self.is_edited",
        "return not self.data and not self.hidden",
        _STAGED,
    ),
    Bug(
        "the first author shapes what the last has typed",
        "core/provenance/staged.py",
        "if self.by[-1] != actor:",
        "if self.by[0] != actor:",
        _STAGED,
    ),
    Bug(
        "a signal that keeps the line drops it",
        "core/provenance/staged.py",
        "if meaning is Meaning.SIGNAL and",
        "if",
        _STAGED,
    ),
    # ── attribution ───────────────────────────────────────────────────────
    Bug(
        "what was removed stands again after a take-up",
        "core/provenance/originators.py",
        "                del items[one.item]\n",
        "                pass\n",
        _ORIGINS,
    ),
    Bug(
        "the last of several commands is the first",
        "core/provenance/originators.py",
        "max(one.command for one in found)",
        "min(one.command for one in found)",
        _ORIGINS,
    ),
    Bug(
        "a range that is merged loses its beginning",
        "core/provenance/originators.py",
        "first=min(one.first or one.command for one in found)",
        "first=min(one.command for one in found)",
        _ORIGINS,
    ),
    Bug(
        "what was left out is not said to be more",
        "core/provenance/originators.py",
        'fields["more"] = number_from(fields["more"]) + 1',
        'fields["more"] = number_from(fields["more"]) + 0',
        _ORIGINS,
    ),
    Bug(
        "a glimpse finds what cannot be executed",
        "core/provenance/line_resolution.py",
        "if isinstance(found, Found) and found.is_executable:",
        "if isinstance(found, Found):",
        (f"{_CORE}provenance/test_line_resolution_doubts.py",),
    ),
    # ── the way of an input ───────────────────────────────────────────────
    Bug(
        "a thaw keeps its effects to itself",
        "core/input/intake.py",
        "return [KeepNote(self.note()), *thawed]",
        "return [KeepNote(self.note())]",
        (f"{_CORE}input/test_intake_thaw.py",),
    ),
    Bug(
        "one leaver withdraws everybody's exec",
        "core/policy/exec_gate.py",
        "gone = [held for held in self._held.values() if held.wish.mark == mark]",
        "gone = [held for held in self._held.values()]",
        (f"{_CORE}policy/test_exec_gate.py",),
    ),
    Bug(
        "a roll-back is told the wrong way round",
        "core/relay/lease_registry.py",
        "RolledBack(seen, known))]",
        "RolledBack(known, seen))]",
        (f"{_CORE}relay/test_lease_registry.py",),
    ),
    # ── crypto ────────────────────────────────────────────────────────────
    Bug(
        "a point of low order signs anything",
        "crypto/keys.py",
        "return y < _PRIME and y not in _LOW_ORDER",
        "return y < _PRIME",
        ("tests/crypto/test_keys.py",),
    ),
    Bug(
        "any proof of an operator is right",
        "crypto/local_proof.py",
        "return hmac.compare_digest(local_proof(token, session, nonce), proof)",
        "return bool(proof)",
        ("tests/crypto/test_local_proof.py",),
    ),
    # ── processes ─────────────────────────────────────────────────────────
    Bug(
        "only who is held is hurried",
        "keeper/vault.py",
        "not kept.is_held:\n            kept.replace_at = now\n",
        "kept.is_held:\n            kept.replace_at = now\n",
        ("tests/keeper/test_vault.py",),
    ),
    Bug(
        "a birth is always late",
        "keeper/births.py",
        "(one.since + PATIENCE for one in self._births.values()), default=None",
        "(one.since for one in self._births.values()), default=None",
        ("tests/keeper/test_births.py",),
    ),
    Bug(
        "the descriptor of a birth leaks",
        "keeper/births.py",
        "            os.close(birth.pidfd)\n",
        "",
        ("tests/keeper/test_births.py",),
    ),
    Bug(
        "what is settled waits for the disk",
        "holder/input/input_handler.py",
        "        self._book.sync()\n",
        "",
        ("tests/holder/input/test_input_handler.py",),
    ),
    Bug(
        "a successor has the old size",
        "holder/input/writer.py",
        "        self._descriptors.record = record._replace(size=cells)\n",
        "",
        ("tests/holder/input/test_input_handler.py",),
    ),
    Bug(
        "the cgroup of what is over stays",
        "holder/processes/freezer.py",
        "            self.cgroup.remove()\n",
        "            pass\n",
        ("tests/holder/processes/test_freezer.py",),
    ),
    Bug(
        "others can read what was frozen",
        "linux/stored/small_files.py",
        "0o600)\n    try:\n        write_all(fd, data)\n        if",
        "0o644)\n    try:\n        write_all(fd, data)\n        if",
        ("tests/holder/processes/test_freezer.py",),
    ),
    Bug(
        "the descriptor of a record leaks",
        "linux/stored/small_files.py",
        "            os.fsync(fd)\n    finally:\n        os.close(fd)\n",
        "            os.fsync(fd)\n    finally:\n        pass\n",
        ("tests/holder/processes/test_freezer.py",),
    ),
    Bug(
        "a key that nobody knows is let in",
        "host/bridge.py",
        "            if accepted.invite_id is None:\n                _known(sealed)\n",
        "",
        ("tests/host/test_bridge.py",),
    ),
    Bug(
        "the way back goes on for ever",
        "aio/first_of.py",
        "            task.cancel()\n",
        "            pass\n",
        ("tests/host/test_bridge.py",),
    ),
    Bug(
        "a client never gives up on an answer",
        "core/client/submission.py",
        "        if now >= self._patience.deadline:\n            waits",
        "        if now >= 1e9:\n            waits",
        ("tests/core/client/test_submission.py",),
    ),
    Bug(
        "a line never gives up",
        "core/client/submission.py",
        "        self._patience = Patience(now + self._timeout, self._approval)\n",
        "        self._patience = Patience(now + 3600, self._approval)\n",
        ("tests/sdk/test_standing_link.py",),
    ),
    Bug(
        "what ends with its link is waited for",
        "core/client/standing_link.py",
        "            passenger.fail(error)\n",
        "            pass\n",
        ("tests/sdk/test_standing_link.py",),
    ),
    # ── what agents do ────────────────────────────────────────────────────
    Bug(
        "a turn that is given is dropped",
        "mcp/action_tools.py",
        "(await call.session(given)).give(given.to))",
        "(await call.session(given)).drop())",
        _ACTS,
    ),
    Bug(
        "what waits for approval is not taken back",
        "mcp/action_tools.py",
        "                await session.deny(one)\n",
        "",
        _ACTS,
    ),
    Bug(
        "an agent's own time for an approval is ignored",
        "mcp/action_tools.py",
        "    pressing = session.send(raw, approval_timeout=given.approval_timeout)\n",
        "    pressing = session.send(raw)\n",
        _ACTS,
    ),
    Bug(
        "a start waits as long as it likes",
        "mcp/action_tools.py",
        "                timeout=given.timeout,\n            )\n    named",
        "            )\n    named",
        _ACTS,
    ),
    Bug(
        "what is to be made elsewhere is made here",
        "mcp/action_tools.py",
        "    host = await call.reach.host(given.host)\n",
        '    host = await call.reach.host("")\n',
        ("tests/scenarios/test_an_agent_works_elsewhere_by_mcp.py",),
    ),
    Bug(
        "a cancelled run is forgotten",
        "mcp/action_tools.py",
        '            call.remember(session, f"run {given.command!r}", NOT_STOPPED)\n',
        "            pass\n",
        _ACTS,
    ),
    # ── dozing ────────────────────────────────────────────────────────────
    Bug(
        "a session that dozes gets a successor at once",
        "keeper/vault.py",
        "if kept.is_dozing:\n            return\n        kept.deaths",
        "kept.deaths",
        ("tests/keeper/test_vault_dozing.py",),
    ),
    Bug(
        "a trustee is not told that a session was woken",
        "keeper/keeper_state.py",
        "without a holder.\n            self.trustee.note(session)\n",
        "without a holder.\n",
        ("tests/keeper/test_dozing.py",),
    ),
    Bug(
        "a new keeper knocks at sessions that doze",
        "keeper/session_probe.py",
        "if stat.S_IMODE(found.st_mode) == DOZING:",
        "if False:",
        ("tests/keeper/test_session_probe.py",),
    ),
    Bug(
        "the last keyframe is forgotten asleep",
        "core/session/paint_requests.py",
        "self._kept = past.kept\n",
        "self._kept = None\n",
        (f"{_CORE}session/test_paint_requests_past.py",),
    ),
    Bug(
        "a short sleep does not make it wait longer",
        "core/session/doze.py",
        "if now - nap.at < waited:",
        "if False:",
        (f"{_CORE}session/test_doze.py",),
    ),
    # ── leases: the rules of a fence ──────────────────────────────────────
    Bug(
        "a session speaks at its expiry",
        "core/relay/lease_term.py",
        "return now < self.expires_at",
        "return now <= self.expires_at",
        (f"{_CORE}relay/test_lease_term.py",),
    ),
    Bug(
        "a life that was succeeded is granted again",
        "core/relay/lease_term.py",
        "if incarnation != self._incarnation or self.successor:",
        "if incarnation != self._incarnation:",
        (f"{_CORE}relay/test_lease_term.py",),
    ),
    Bug(
        "a word about another life counts",
        "keeper/lease_fence.py",
        "if kept is None or word.incarnation != kept.record.incarnation:",
        "if kept is None:",
        ("tests/keeper/test_lease_fence.py",),
    ),
    Bug(
        "a renewed lease is fenced by the keeper",
        "keeper/lease_fence.py",
        "kept is not None and kept.held.expires + GRACE <= now",
        "kept is not None",
        ("tests/keeper/test_lease_fence.py",),
    ),
    Bug(
        "a renewed lease is fenced by the trustee",
        "keeper/last_fence.py",
        "is_over = isinstance(expires, float | int) and expires + GRACE <= now",
        "is_over = True",
        ("tests/keeper/test_last_fence.py",),
    ),
    Bug(
        "the trustee fences nothing",
        "keeper/last_fence.py",
        'hold(session, str(facts.get("cgroup") or ""), "nobody had done it")',
        "pass",
        ("tests/keeper/test_last_fence.py",),
    ),
    # ── what a host does by itself ────────────────────────────────────────
    Bug(
        "time in which nobody looked is idle time",
        "core/session/idle_sessions.py",
        "slept = 0.0 if self._is_seen(watch, now) else now - watch.observed_at",
        "slept = 0.0",
        (f"{_CORE}session/test_idle_sessions.py",),
    ),
    Bug(
        "a warning is given and not waited for",
        "core/session/idle_sessions.py",
        "told_at = warned_at + self._policy.warning",
        "told_at = warned_at",
        (f"{_CORE}session/test_idle_sessions.py",),
    ),
    Bug(
        "the shortest idle goes first",
        "core/session/idle_sessions.py",
        "quiet.sort(key=lambda watch: (watch.quiet_since, watch.session))",
        "quiet.sort(key=lambda watch: (-watch.quiet_since, watch.session))",
        (f"{_CORE}session/test_idle_sessions.py",),
    ),
    Bug(
        "more go than memory demands",
        "core/session/idle_sessions.py",
        "            excess -= watch.memory",
        "            excess -= 0",
        (f"{_CORE}session/test_idle_sessions.py",),
    ),
    Bug(
        "a reaped session is reaped again",
        "core/session/idle_sessions.py",
        "            watch.is_reaping = True\n",
        "",
        (f"{_CORE}session/test_idle_sessions.py",),
    ),
    Bug(
        "what is spared is reaped",
        "core/session/idle_sessions.py",
        "        if self.spared:\n            return self.spared\n",
        "",
        (f"{_CORE}session/test_idle_sessions.py",),
    ),
    Bug(
        "an image is made of a session that stands still",
        "core/capsule/checkpoint_pace.py",
        "if one.is_able and one.has_changed and now >= one.due_at",
        "if one.has_changed and now >= one.due_at",
        (f"{_CORE}capsule/test_checkpoint_pace.py",),
    ),
    Bug(
        "an image is made although nothing has happened",
        "core/capsule/checkpoint_pace.py",
        "if one.is_able and one.has_changed and now >= one.due_at",
        "if one.is_able and now >= one.due_at",
        (f"{_CORE}capsule/test_checkpoint_pace.py",),
    ),
)
