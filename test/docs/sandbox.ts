/**
 * A machine for the commands on a page: an unprivileged user with an empty home directory, a checkout of this
 * repository in `~/orch`, the programs `orch` and `orchctl` on the PATH, and no network except the sandbox's own
 * 127.0.0.1. A page can therefore use the default ports and paths. Every program that a page starts is terminated
 * together with the sandbox.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../support/server.ts'

/** The path of the home directory inside the sandbox. */
const home = '/home/you'
const checkout = `${home}/orch`
const maxStepMs = 400_000
const system = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ssl',
  ...java(),
]
/** Files of this checkout that a new checkout would not contain. */
const leftovers = new Set(['.git', '.orch', '.tools', 'packages', 'site'])

export interface StepResult {
  readonly code: number
  readonly output: string
}

/** A shell inside a sandbox. The working directory, variables and functions are preserved between steps. */
export class Sandbox {
  readonly #directory = mkdtempSync(join(tmpdir(), 'orch-page-'))
  readonly #shell: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  #steps = 0

  constructor() {
    const page = this.#path('page')
    for (const name of ['page', 'home/orch', 'etc']) mkdirSync(this.#path(name), { recursive: true })
    writeFileSync(this.#path('etc/passwd'), `you:x:1000:1000::${home}:/bin/bash\n`)
    writeFileSync(this.#path('etc/group'), 'you:x:1000:\n')
    writeFileSync(this.#path('etc/hosts'), '127.0.0.1 localhost machine\n')
    const mounts = [
      ...[
        '--bind',
        this.#path('etc'),
        '/etc',
        ...system.flatMap((path) => (existsSync(path) ? ['--ro-bind', path, path] : [])),
      ],
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--dir', '/var/lib/orch', '--bind', page, '/run/page'],
      ...['--bind', this.#path('home'), home, ...checkoutMounts(), ...programMounts()],
    ]
    const user = ['--unshare-all', '--uid', '1000', '--gid', '1000', '--hostname', 'machine', '--die-with-parent']
    const variables = { HOME: home, USER: 'you', PATH: '/opt/bin:/usr/bin:/usr/sbin', SOURCE_DATE_EPOCH: '1700000000' }
    const environment = ['--clearenv', ...Object.entries(variables).flatMap((pair) => ['--setenv', ...pair])]
    const shell = ['--chdir', home, 'bash', '--noprofile', '--norc']
    this.#shell = spawn('bwrap', [...mounts, ...user, ...environment, ...shell])
    // Background programs read from an open pipe, as from an idle terminal.
    this.#shell.stdin.write('mkfifo /run/page/terminal; exec 9<> /run/page/terminal\n')
    this.#lines = createInterface(this.#shell.stdout)[Symbol.asyncIterator]()
  }

  /** Runs commands. Stops at the first command that fails. */
  async run(commands: string): Promise<StepResult> {
    const name = `step-${++this.#steps}`
    writeFileSync(this.#path(`page/${name}`), `${commands}\n`)
    const source = `. /run/page/${name} > /run/page/${name}.output 2>&1 < /dev/null; echo $?\n`
    this.#shell.stdin.write(source)
    const timer = setTimeout(() => this.#shell.kill('SIGKILL'), maxStepMs)
    const { value, done } = await this.#lines.next().finally(() => clearTimeout(timer))
    const output = readFileSync(this.#path(`page/${name}.output`), 'utf8')
    if (done)
      throw new Error(`the shell ended, or the commands took more than ${maxStepMs} ms:\n${commands}\n${output}`)
    return { code: Number(value), output }
  }

  /** Starts a command in the background. */
  async start(command: string): Promise<BackgroundProgram> {
    const name = `background-${++this.#steps}`
    const output = this.#path(`page/${name}.output`)
    writeFileSync(this.#path(`page/${name}`), `${command}\n`)
    const { output: job } = await this.run(
      `setsid bash /run/page/${name} > /run/page/${name}.output 2>&1 <&9 & echo $!`,
    )
    const group = job.trim()
    return {
      output: () => (existsSync(output) ? readFileSync(output, 'utf8') : ''),
      stop: async () => {
        // The shell that runs the command ends before the command itself, so wait for the whole process group.
        await this.run(`kill -TERM -- -${group}; wait ${group}; while kill -0 -- -${group}; do sleep 0.05; done`)
      },
    }
  }

  /** Writes a file into the current directory of the shell. */
  async write(name: string, text: string): Promise<void> {
    writeFileSync(this.#path('page/file'), text)
    const { code, output } = await this.run(`mkdir -p "$(dirname ${name})" && cp /run/page/file ${name}`)
    if (code !== 0) throw new Error(`cannot write ${name}: ${output}`)
  }

  async close(): Promise<void> {
    const closed = once(this.#shell, 'close')
    if (this.#shell.exitCode === null && this.#shell.kill('SIGKILL')) await closed
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }
}

export interface BackgroundProgram {
  output(): string
  /** Interrupts the program as Ctrl-C would, and waits until the program has exited. */
  stop(): Promise<void>
}

function checkoutMounts(): string[] {
  const names = readdirSync(root).filter((name) => !leftovers.has(name))
  return names.flatMap((name) => ['--ro-bind', realpathSync(join(root, name)), `${checkout}/${name}`])
}

/** Java's configuration, which Debian keeps outside of `/usr`. */
function java(): readonly string[] {
  return globSync('/etc/java-*')
}

function programMounts(): string[] {
  const node = `${checkout}/node_modules/node-linux-${process.arch}/bin/node`
  const own = { orch: `${checkout}/bin/orch`, orchctl: `${checkout}/bin/orchctl`, node }
  const links = Object.entries(own).flatMap(([name, target]) => ['--symlink', target, `/opt/bin/${name}`])
  return [...links, ...mountOf('kubectl')]
}

/** Mounts a program that the test run may have unpacked outside of `/usr` (`test/support/install.ts`). */
function mountOf(name: string): string[] {
  const directories = (process.env.PATH ?? '').split(delimiter)
  const path = directories.map((directory) => join(directory, name)).find((path) => existsSync(path))
  return path === undefined || path.startsWith('/usr/') ? [] : ['--ro-bind', realpathSync(path), `/opt/bin/${name}`]
}
