/**
 * Runs Debian's kubectl against a test server, in a shell whose home directory contains no other settings. Parts of the
 * output that vary are masked. The default user is the server's administrator. `--kubeconfig=bob.kubeconfig` selects a
 * user without permissions, and `nobody.kubeconfig` has an invalid token.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { withoutCollector } from './kubectl.ts'
import { runCommand } from './run-command.ts'
import type { Served } from './server.ts'
import type { Outcome } from './transcript.ts'

const maxCommandMs = 120_000

export interface Kubectl {
  readonly home: string
  /** Runs one line of shell code and waits until the shell exits. */
  run(command: string, input?: string): Promise<Outcome>
  /** Starts kubectl in the background. The caller must end it. */
  start(...args: readonly string[]): Running
}

/** A running kubectl process, with the lines of its output and of its errors. */
export interface Running {
  readonly output: AsyncIterator<string>
  readonly errors: AsyncIterator<string>
  /** Waits until kubectl exits and returns its exit code. */
  ended(): Promise<number | null>
  /** Kills kubectl if it is still running. */
  end(): Promise<void>
}

export function kubectlFor(server: Served, name = 'home', timeoutMs = maxCommandMs): Kubectl {
  const home = join(server.directory, name)
  mkdirSync(home)
  const admin = join(home, 'admin.kubeconfig')
  copyFileSync(join(server.directory, 'admin.kubeconfig'), admin)
  for (const user of ['bob', 'nobody']) writeFileSync(join(home, `${user}.kubeconfig`), tokenConfig(server, user))
  const settings = {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: home, KUBECONFIG: admin, ...withoutCollector },
  }
  const mask = masking(server, home)
  return {
    home,
    run: async (command, input = '') => {
      const { stdout, stderr, code } = await runCommand('sh', ['-c', command], { ...settings, input, timeoutMs })
      return { output: mask(stdout), errors: mask(stderr), code }
    },
    start: (...args) =>
      running(spawn('kubectl', args, { ...settings, timeout: timeoutMs, killSignal: 'SIGKILL' }), mask),
  }
}

function running(child: ChildProcessWithoutNullStreams, mask: Mask): Running {
  const closed = once(child, 'close') as Promise<[number | null]>
  return {
    output: maskedLines(child.stdout, mask),
    errors: maskedLines(child.stderr, mask),
    ended: async () => (await closed)[0],
    end: async () => {
      child.kill()
      await closed
    },
  }
}

async function* maskedLines(stream: Readable, mask: Mask): AsyncGenerator<string> {
  for await (const line of createInterface(stream)) yield mask(`${line}\n`).trimEnd()
}

const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>'],
  [/(resourceVersion"?: ?)"\d+"/g, '$1"<version>"'],
  [/((?:gitVersion|compiler|platform)"?: ?)"[^"]*"/gi, '$1"<version>"'],
  // Matches an age at the end of a row or before the label columns.
  [/ {3}(?:\d+[hm])?\d+[hms](?: +(?=\S)|$)/gm, '   <age>   '],
  [/\bAGE {3,}/g, 'AGE     '],
  // Also matches the age of an event at the beginning of a row.
  [/^(?:\d+[hm])?\d+[hms] {3,}(?=\S)/gm, '<age>       '],
]

type Mask = (said: string) => string

function masking(server: Served, home: string): Mask {
  return (said) => {
    const known = said
      .replaceAll(home, '<home>')
      .replaceAll(server.url, '<server>')
      .replaceAll(`127.0.0.1:${server.port}`, '<address>')
    return masks
      .reduce((masked, [pattern, by]) => masked.replaceAll(pattern, by), known)
      .replaceAll('<age>   \n', '<age>\n')
  }
}

function tokenConfig(server: Served, user: string): string {
  const certificate = readFileSync(join(server.directory, 'data/pki/ca.crt')).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: server.url, 'certificate-authority-data': certificate } }],
    users: [{ name: user, user: { token: `${user}-token` } }],
    contexts: [{ name: user, context: { cluster: 'test', user } }],
    'current-context': user,
  })
}
