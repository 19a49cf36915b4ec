/** Debian's kubectl against a server of the test, as its administrator. */
import { join } from 'node:path'
import { type Ran, runCommand } from './run-command.ts'
import type { Served } from './server.ts'

/** It ends before its garbage matters, and to collect that takes a third of its processor time. */
export const withoutCollector = { GOGC: 'off' }

/** Runs to its end; `input` is what it reads as its standard input. Fails when that takes longer than 30 seconds. */
export function kubectl(server: Served, args: readonly string[], input = ''): Promise<Ran> {
  const own = [
    `--kubeconfig=${join(server.directory, 'admin.kubeconfig')}`,
    `--cache-dir=${join(server.directory, 'kubectl')}`,
  ]
  return runCommand('kubectl', [...own, ...args], { input, env: { ...process.env, ...withoutCollector } })
}
