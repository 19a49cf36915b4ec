/** Debian's kubectl against a server of the test, as its administrator. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import type { ServerHandle } from './server.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs to its end; `input` is what it reads as its standard input. Gives up after 30 seconds. */
export function kubectl(server: ServerHandle, args: readonly string[], input = ''): Promise<Ran> {
  const own = [
    `--kubeconfig=${join(server.directory, 'admin.kubeconfig')}`,
    `--cache-dir=${join(server.directory, 'kubectl')}`,
  ]
  return new Promise((resolve) => {
    const child = execFile('kubectl', [...own, ...args], { timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    )
    child.stdin!.end(input)
  })
}
