/**
 * Installs the programs that the tests need in addition to npm packages. They come from Debian packages, and are
 * installed only if the selected test files use them. If the installation fails, the run stops and names the missing
 * programs. No test is skipped. kubectl must have Debian's version, because the transcripts contain its output. If
 * another version of kubectl is installed, that version is kept, and Debian's version is unpacked into `.tools/`, which
 * comes first on the PATH of the tests.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { commandsOf } from './plan.ts'

interface Tool {
  readonly command: string
  readonly packages: readonly string[]
  /** Output of the command if the right version is installed. */
  readonly version?: { readonly args: readonly string[]; readonly expected: RegExp }
}

/** Exported for the test that finds undeclared programs. */
export const tools: readonly Tool[] = [
  { command: 'etcd', packages: ['etcd-server'] },
  { command: 'etcdctl', packages: ['etcd-client'] },
  {
    command: 'kubectl',
    packages: ['kubernetes-client'],
    version: { args: ['version', '--client'], expected: /\bv?1\.20\./ },
  },
  { command: 'chromium', packages: ['chromium'] },
  { command: 'openssl', packages: ['openssl'] },
  { command: 'gcc', packages: ['gcc', 'libc6-dev'] },
  { command: 'protoc', packages: ['protobuf-compiler'] },
  { command: 'bwrap', packages: ['bubblewrap', 'binutils'] },
  { command: 'debootstrap', packages: ['debootstrap'] },
  { command: 'lintian', packages: ['lintian'] },
  { command: 'go', packages: ['golang-go'] },
  { command: 'javac', packages: ['default-jdk-headless'] },
  { command: 'pytest-3', packages: ['python3-pytest', 'python3-kubernetes'] },
]

const unpacked = join(dirname(dirname(import.meta.dirname)), '.tools')

export function installTools(files: readonly string[]): void {
  process.env.PATH = `${join(unpacked, 'usr/bin')}${delimiter}${process.env.PATH}`
  const missing = neededBy(files).filter((tool) => !isRight(tool))
  if (missing.length === 0) return
  console.log(`installing ${missing.flatMap(({ packages }) => packages).join(' ')}`)
  if (isRoot() && isInstalled('apt-get')) apt(['update'])
  for (const tool of missing) install(tool)
  const still = missing.filter((tool) => !isRight(tool))
  if (still.length > 0) giveUp(still)
}

function neededBy(files: readonly string[]): readonly Tool[] {
  const commands = tools.map(({ command }) => command)
  const needed = new Set(files.flatMap((file) => commandsOf(file, commands)))
  return tools.filter(({ command }) => needed.has(command))
}

function giveUp(missing: readonly Tool[]): never {
  const names = missing.map(({ command, version }) => (version ? `${command} ${version.expected.source}` : command))
  const packages = missing.flatMap(({ packages }) => packages)
  console.error(`The tests need ${names.join(', ')}. On Debian: apt-get install ${packages.join(' ')}`)
  console.log(`0 passed, ${missing.length} failed`)
  process.exit(1)
}

/**
 * Installs missing programs for the whole machine. If another version of a program is installed, that version is kept.
 */
function install({ command, packages }: Tool): void {
  if (!isInstalled('apt-get')) return
  if (isInstalled(command)) unpack(packages)
  else if (isRoot()) apt(['install', '-y', '--no-install-recommends', ...packages])
}

function unpack(packages: readonly string[]): void {
  mkdirSync(unpacked, { recursive: true })
  apt(['download', ...packages], unpacked)
  for (const file of readdirSync(unpacked).filter((name) => name.endsWith('.deb')))
    run('dpkg', ['-x', file, '.'], unpacked)
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

function isRight({ command, version }: Tool): boolean {
  if (!isInstalled(command)) return false
  return version === undefined || version.expected.test(spawnSync(command, version.args, { encoding: 'utf8' }).stdout)
}

function apt(args: readonly string[], cwd?: string): void {
  run('apt-get', args, cwd)
}

function run(command: string, args: readonly string[], cwd?: string): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) console.error(stderr)
}
