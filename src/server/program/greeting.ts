/**
 * What `orch up` says when it is ready: where it serves, a first command that works as it stands, and how to stop. How
 * `orchctl` is called depends on how this program came here: a checkout, a dependency of a project, or installed for
 * all.
 */
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path'
import { version } from '../../api/model/version.ts'
import { usualFiles } from '../../client/node/kubeconfig-files.ts'
import type { ServerOptions } from '../flags/options.ts'

/** What `orch up` prints when it is ready: where the server is, and the first commands to try. */
export function greeting(url: string, options: ServerOptions, consoleAddress: string | undefined): string {
  const { adminKubeconfig, profile } = options
  const kubectl = profile === 'kubernetes'
  const tool = kubectl ? 'kubectl' : orchctlCommand(process.argv[1] ?? '', process.cwd(), process.env.PATH ?? '')
  const found = !kubectl && isFound(adminKubeconfig)
  const hint = kubectl ? '' : 'Note: kubectl and client-go want --profile=kubernetes\n'
  // With --admin-kubeconfig= no client config is written, so there is no command that works as it stands.
  const attempt =
    adminKubeconfig === '' ? '' : `Try:  ${tool}${found ? '' : ` --kubeconfig=${adminKubeconfig}`} get namespaces\n`
  return `orch ${version} is serving at ${url}${adminKubeconfig === '' ? '' : ` (administrator: ${adminKubeconfig})`}
${attempt}${hint}${consoleAddress === undefined ? '' : `See:  ${consoleAddress}\n`}Stop: Ctrl-C; all data stays and is there at the next start
`
}

/** Whether orchctl, started from here, uses this client config by default. */
function isFound(config: string): boolean {
  const files = usualFiles({ env: process.env, home: homedir(), directory: process.cwd() })
  return config !== '' && files.length === 1 && files[0] === resolve(config)
}

/** How a user in `directory` calls the orchctl that lies beside this program. */
export function orchctlCommand(program: string, directory: string, path: string): string {
  const beside = join(dirname(program), 'orchctl')
  const linked = (file: string) => existsSync(file) && realpathSync(file) === beside
  // npm puts such directories into the PATH of what it starts; the user's own shell knows nothing of them.
  const ofShells = path
    .split(delimiter)
    .filter((entry) => entry !== '' && !entry.includes(join('node_modules', '.bin')))
  if (ofShells.some((entry) => linked(join(entry, 'orchctl')))) return 'orchctl'
  if (linked(join(directory, 'node_modules', '.bin', 'orchctl'))) return 'npx orchctl'
  const way = relative(directory, beside)
  return way.startsWith(`..${sep}`) ? beside : `.${sep}${way}`
}
