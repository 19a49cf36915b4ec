/** A start that is refused: the exit code, and what was said. The server has a directory of its own, gone at the end. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { asForUsers } from './compiled.ts'
import { type Ending, root } from './server.ts'

/** Flags, or what makes them with files in the directory. */
export type FailingFlags = readonly string[] | ((directory: string) => readonly string[])

export async function startFailing(t: Ending, flags: FailingFlags): Promise<{ code: number | null; errors: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(async () => rmSync(directory, { recursive: true, force: true }))
  const own = ['--secure-port=0', `--data-dir=${directory}/data`, '--admin-kubeconfig=']
  const given = typeof flags === 'function' ? flags(directory) : flags
  const child = spawn(join(root, 'bin/orch'), ['apiserver', ...own, ...given], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: asForUsers(),
    timeout: 300_000,
  })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number | null]>])
  return { code, errors }
}
