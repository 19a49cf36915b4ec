/** Runs Debian's kubectl against a test server, as its administrator. */
import { join } from 'node:path'
import { type Ran, runCommand } from './run-command.ts'
import type { Served } from './server.ts'

/**
 * Disables kubectl's garbage collector. kubectl exits before garbage matters, and garbage collection would take a third
 * of kubectl's CPU time.
 */
export const withoutCollector = { GOGC: 'off' }

/** Runs kubectl with `input` as its standard input. Fails after 30 seconds. */
export function kubectl(server: Served, args: readonly string[], input = ''): Promise<Ran> {
  const own = [
    `--kubeconfig=${join(server.directory, 'admin.kubeconfig')}`,
    `--cache-dir=${join(server.directory, 'kubectl')}`,
  ]
  return runCommand('kubectl', [...own, ...args], { input, env: { ...process.env, ...withoutCollector } })
}
