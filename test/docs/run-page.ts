/** Runs the commands on a page in a sandbox, and returns the differences from the output shown on the page. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { bundleIfStale } from '../support/bundle.ts'
import { root } from '../support/server.ts'
import { type Block, blocksOf, type Command } from './page.ts'
import { type BackgroundProgram, Sandbox } from './sandbox.ts'
import { hasStarted, isShown } from './shown-output.ts'

const maxStartMs = 60_000
const pollMs = 50

/** Defines one test for each page that has commands. */
export function testPages(names: readonly string[]): void {
  before(bundlePrograms)
  for (const name of names.filter(hasCommands)) testPage(name)
}

function hasCommands(name: string): boolean {
  const blocks = blocksOf(readFileSync(join(root, name), 'utf8'))
  return blocks.some(({ type }) => type === 'commands' || type === 'background')
}

/** The checkout in the sandbox is read-only, so the programs cannot update themselves. */
async function bundlePrograms(): Promise<void> {
  for (const name of ['orch', 'orchctl', 'testing']) await bundleIfStale(name)
}

function testPage(name: string): void {
  test(`the commands of ${name} work and print what the page shows`, { timeout: 900_000 }, async () => {
    const differences = await differencesOf(name)
    assert.equal(differences.length, 0, differences.join('\n\n'))
  })
}

/** Runs a page. Returns a description of each difference. */
export async function differencesOf(name: string): Promise<readonly string[]> {
  const blocks = blocksOf(readFileSync(join(root, name), 'utf8'))
  const sandbox = new Sandbox()
  const programs: BackgroundProgram[] = []
  const differences: string[] = []
  try {
    for (const block of blocks)
      for await (const difference of runBlock(sandbox, programs, block))
        differences.push(`${name}:${block.line}: ${difference}`)
    if (differences.length > 0)
      for (const program of programs) differences.push(`output in the background:\n${program.output()}`)
    return differences
  } finally {
    await sandbox.close()
  }
}

async function* runBlock(sandbox: Sandbox, programs: BackgroundProgram[], block: Block): AsyncGenerator<string> {
  if (block.type === 'file') await sandbox.write(block.name, block.text)
  if (block.type === 'stop') await programs.pop()!.stop()
  if (block.type === 'background') await startProgram(sandbox, programs, block.command)
  if (block.type !== 'commands') return
  for (const command of block.commands) {
    const difference = await differenceOf(sandbox, command)
    if (difference !== undefined) yield difference
  }
}

async function differenceOf(sandbox: Sandbox, { text, output: shown }: Command): Promise<string | undefined> {
  const { code, output } = await sandbox.run(text)
  if (shown === '' && code !== 0) return `exit code ${code}\n$ ${text}\n${output}`
  return shown === '' || isShown(shown, output)
    ? undefined
    : `other output\n$ ${text}\n${output}\nthe page shows:\n${shown}`
}

/** Throws if the program is not ready in time, because the rest of the page depends on it. */
async function startProgram(sandbox: Sandbox, programs: BackgroundProgram[], { text, output }: Command): Promise<void> {
  const program = await sandbox.start(text)
  programs.push(program)
  const end = performance.now() + maxStartMs
  while (!hasStarted(output, program.output())) {
    if (performance.now() > end) throw new Error(`$ ${text}\n${program.output()}\nthe page shows:\n${output}`)
    await pause(pollMs)
  }
}
