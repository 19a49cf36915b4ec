/** Tests that the manual pages of both programs describe every command and flag, and are valid roff. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualPages } from '../../scripts/package/manual.ts'
import { escaped, literal } from '../../scripts/package/roff.ts'
import type { Flags } from '../../src/base/flags/flags.ts'
import { commands as serverCommands } from '../../src/server/program/help.ts'
import { commands as clientCommands } from '../../src/tools/cli/commands/all.ts'
import type { CommandEntry, CommandGroup } from '../../src/tools/cli/commands/entry.ts'
import { connectionFlags } from '../../src/tools/cli/connection/connection-flags.ts'

const pages = await manualPages()

/** Fails unless the page exists and has an entry for every visible flag. */
function assertDescribes(page: string, flags: Flags): void {
  const text = pages.get(`${page}.1`)
  assert.ok(text !== undefined, `no page ${page}.1`)
  for (const { name, hidden = false } of Object.values(flags))
    assert.equal(text.includes(`\\fB\\-\\-${name.replaceAll('-', '\\-')}\\fR`), !hidden, `${page}: --${name}`)
}

test('every command of orch has a page with its flags', async () => {
  for (const [name, { flagGroups }] of Object.entries(serverCommands))
    for (const flags of Object.values(await flagGroups())) assertDescribes(`orch-${name}`, flags)
  assert.ok(pages.has('orch-version.1'))
})

test('every command of orchctl has a page with its flags', async () => {
  const global = new Set<unknown>(Object.values(connectionFlags))
  const visit = async (node: CommandEntry | CommandGroup, parent: string): Promise<void> => {
    const flags = Object.entries((await node.load?.())?.flags ?? {}).filter(([, flag]) => !global.has(flag))
    assertDescribes(`${parent}-${node.name}`, Object.fromEntries(flags))
    for (const each of 'commands' in node ? node.commands : []) await visit(each, `${parent}-${node.name}`)
  }
  for (const command of clientCommands) await visit(command, 'orchctl')
  assertDescribes('orchctl', connectionFlags)
})

test('text in a manual page cannot become a roff request or an escape sequence', () => {
  assert.equal(escaped('.SH "\\fB" isn\'t -x'), '\\&.SH \\(dq\\efB\\(dq isn\\(aqt \\-x')
  assert.deepEqual(literal(["'so\n.x ü"]), ['.nf', '\\(aqso', '\\&.x \\[u00FC]', '.fi'])
})

test('manual pages contain only known roff requests, printable ASCII and no date', () => {
  for (const [name, text] of pages) {
    assert.match(text, /^\.TH "[^"]+" 1 "" "orch [^"]+" "orch manual"\n/, name)
    for (const line of text.trimEnd().split('\n')) {
      assert.match(line, /^[ -~]+$/, `${name}: ${line}`)
      if (/^[.']/.test(line)) assert.match(line, /^\.(TH|SH|SS|TP|PP|RS|RE|nf|fi|br|ad|nh)( |$)/, `${name}: ${line}`)
    }
  }
})
