/** Starts a real `orch controller-manager` for a test: a separate process that connects to a real server over TLS. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Ending, root, type Served } from './server.ts'
import { until } from './until.ts'

export interface ManagerHandle {
  readonly process: ChildProcess
  output(): string
  /** Sends a signal to the manager and waits until it exits. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
  /** Resolves when the manager has become the leader. */
  readonly leads: () => Promise<void>
}

/** Starts a manager that signs with the CA of the server and uses the administrator's kubeconfig. */
export function startManager(t: Ending, server: Served, flags: readonly string[] = []): ManagerHandle {
  const pki = join(server.directory, 'data/pki')
  const child = spawn(
    join(root, 'bin/orch'),
    [
      ...['controller-manager', `--kubeconfig=${server.directory}/admin.kubeconfig`],
      ...(flags.some((flag) => flag.startsWith('--secure-port')) ? [] : ['--secure-port=0']),
      ...[`--cluster-signing-cert-file=${pki}/ca.crt`, `--cluster-signing-key-file=${pki}/ca.key`],
      ...[`--root-ca-file=${pki}/ca.crt`, ...flags],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const closed = once(child, 'exit')
  const end = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await closed
    return child.exitCode
  }
  t.after(async () => {
    await end('SIGKILL')
  })
  const leads = async () => {
    await until(
      async () => output,
      (latest) => latest.includes('became the leader') || child.exitCode !== null,
    )
    if (child.exitCode !== null) throw new Error(output)
  }
  return { process: child, output: () => output, end, leads }
}
