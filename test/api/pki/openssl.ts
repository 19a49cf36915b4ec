/** Runs the `openssl` program, which independently verifies the certificates created in these tests. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export function openssl(args: readonly string[], input: string | Buffer = ''): string {
  const { error, status, stdout, stderr } = spawnSync('openssl', args, { input, timeout: 300_000 })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    throw new Error('these tests need the program `openssl` (3.0 or newer): install it and run them again')
  }
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`openssl ${args.join(' ')} answered ${status}: ${stderr}${stdout}`)
  return stdout.toString()
}

/** Creates a directory that is removed when the test ends. */
export function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-pki-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
