/**
 * Checks that every page about a task has four parts: the goal, the commands, what you should see, and what can go
 * wrong.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/server.ts'
import { blocksOf, type Command } from './page.ts'
import { taskPages } from './pages.ts'

const pages = taskPages.map((name) => ({ name, ...partsOf(readFileSync(join(root, name), 'utf8')) }))

interface Parts {
  /** The text between the title and the first section. */
  readonly opening: string
  /** The commands that readers see. */
  readonly commands: readonly Command[]
  /** The rows of the table in the section "What can go wrong". */
  readonly problems: readonly string[]
}

function partsOf(text: string): Parts {
  const visible = text.replaceAll(/<!--(?:(?!-->)[\s\S])*-->\n?/g, '')
  const [, opening = ''] = /^# .*\n([\s\S]*?)(?=^#|$(?![\s\S]))/m.exec(visible) ?? []
  const [, trouble = ''] = /^## What can go wrong\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(visible) ?? []
  const commands = blocksOf(visible).flatMap((block) => (block.type === 'commands' ? block.commands : []))
  return { opening, commands, problems: trouble.split('\n').filter((line) => /^\| (?!symptom|message|---)/.test(line)) }
}

function pagesWithout(hasPart: (parts: Parts) => boolean): readonly string[] {
  return pages.filter((page) => !hasPart(page)).map(({ name }) => name)
}

test('every task page begins with the goal of the task', () => {
  assert.ok(pages.length > 25)
  assert.deepEqual(
    pagesWithout(({ opening }) => /\b[Tt]his (page|guide) \w+s\b|\b[Oo]n this page, you\b/.test(opening)),
    [],
  )
})

test('every task page has commands and shows what they print', () => {
  assert.deepEqual(
    pagesWithout(({ commands }) => commands.some(({ output }) => output.replaceAll('...', '').trim() !== '')),
    [],
  )
})

test('every task page lists at least two problems with their solutions', () => {
  assert.deepEqual(
    pagesWithout(({ problems }) => problems.length >= 2),
    [],
  )
})
