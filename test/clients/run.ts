/**
 * Runs the test suites of other clients. The suites are run manually, as README.md describes. Each suite has an
 * ephemeral server, which exits with this process. npm packages are installed in a temporary directory. Exits with 1 if
 * a suite fails, and names the suites that cannot run.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const here = import.meta.dirname
const root = dirname(dirname(here))
const packages = ['@kubernetes/client-node@2.0.1', 'kubernetes-fluent-client@3.11.6']

interface Suite {
  readonly name: string
  /** Reason why the suite cannot run on this machine. */
  readonly missing: () => string | undefined
  readonly command: (folder: string) => readonly [string, ...string[]]
  /** Whether the suite starts a server itself. */
  readonly hasServer?: boolean
}

const suites: readonly Suite[] = [
  ...['client-node.mjs', 'fluent-client.mjs'].map((name) => ({
    name,
    missing: () => undefined,
    command: (folder: string) => [process.execPath, '--test', join(installed(folder), name)] as const,
  })),
  {
    name: 'test_python_client.py',
    hasServer: true,
    missing: () =>
      succeeds('/usr/bin/python3', ['-c', 'import kubernetes, pytest']) ? undefined : 'python3-kubernetes or pytest',
    command: () => [
      '/usr/bin/python3',
      '-m',
      'pytest',
      '-q',
      '-p',
      'no:cacheprovider',
      join(here, 'test_python_client.py'),
    ],
  },
]

let isInstalled = false
const folder = mkdtempSync(join(tmpdir(), 'orch-clients-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const suite of suites.filter(({ name }) => name.includes(process.argv[2] ?? ''))) await run(suite)

async function run({ name, missing, command, hasServer = false }: Suite): Promise<void> {
  const lacking = missing()
  if (lacking !== undefined) {
    console.log(`${name}: cannot run here, ${lacking} is missing`)
    return
  }
  const [program, ...args] = command(folder)
  const server = hasServer ? undefined : await startServer(join(folder, `${name}.kubeconfig`))
  const env = { ...process.env, ...server?.env, PYTHONDONTWRITEBYTECODE: '1', ORCH: join(root, 'bin/orch') }
  const [code] = await once(spawn(program, args, { stdio: 'inherit', env }), 'exit')
  await server?.stop()
  console.log(`${name}: ${code === 0 ? 'passed' : 'FAILED'}`)
  if (code !== 0) process.exitCode = 1
}

async function startServer(config: string) {
  const server = spawn(
    join(root, 'bin/orch'),
    ['up', '--ephemeral', '--profile=kubernetes', '--emulated-version=1.23'],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  writeFileSync(config, await kubeconfigOf(server.stdout))
  const stop = async () => {
    server.stdin.end()
    await once(server, 'exit')
  }
  return { env: { KUBECONFIG: config }, stop }
}

/** Returns the kubeconfig that the server prints. The kubeconfig is complete when the server is ready. */
async function kubeconfigOf(output: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of output) {
    text += chunk
    if (/^current-context: .*\n/m.test(text)) return text
  }
  throw new Error('the server did not start')
}

/**
 * Installs packages once for all suites. The suites are copied to the same directory, because modules are resolved
 * relative to the importing file.
 */
function installed(place: string): string {
  if (isInstalled) return place
  writeFileSync(join(place, 'package.json'), '{"private":true,"type":"module"}')
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: place,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the clients cannot be installed')
  for (const name of ['client-node.mjs', 'fluent-client.mjs']) copyFileSync(join(here, name), join(place, name))
  isInstalled = true
  return place
}

function succeeds(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}
