/**
 * The message that `orch up` prints when it is ready: the URL, a first command to copy, and how to stop the server. The
 * `orchctl` command depends on the type of installation: a checkout, a dependency of a project, or a global
 * installation.
 */
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path'
import { version } from '../../api/model/version.ts'
import { processEnvironment, usualFiles } from '../../client/node/kubeconfig-files.ts'
import type { ServerOptions } from '../flags/options.ts'

/** Returns the message that `orch up` prints when it is ready, with the URL and the first commands to try. */
export function greeting(url: string, options: ServerOptions, consoleAddress: string | undefined): string {
  const { adminKubeconfig, profile } = options
  const kubectl = profile === 'kubernetes'
  const tool = kubectl ? 'kubectl' : orchctlCommand(process.argv[1] ?? '', process.cwd(), process.env.PATH ?? '')
  const isDefaultConfig = !kubectl && isFound(adminKubeconfig)
  const hint = kubectl ? '' : 'Note: kubectl and client-go require --profile=kubernetes\n'
  // With an empty --admin-kubeconfig, the server writes no kubeconfig, so no printed command would work.
  const attempt =
    adminKubeconfig === ''
      ? ''
      : `Try:  ${tool}${isDefaultConfig ? '' : ` --kubeconfig=${adminKubeconfig}`} get namespaces\n`
  return `orch ${version} is serving at ${url}${adminKubeconfig === '' ? '' : ` (administrator: ${adminKubeconfig})`}
${attempt}${hint}${consoleAddress === undefined ? '' : `See:  ${consoleAddress}\n`}Stop: Ctrl-C; the data survives restarts
`
}

/** Whether orchctl, when started in the server's working directory, uses this kubeconfig by default. */
function isFound(config: string): boolean {
  const files = usualFiles(processEnvironment())
  return config !== '' && files.length === 1 && files[0] === resolve(config)
}

/** Returns the command that runs this program's orchctl, as a user would enter it in `directory`. */
export function orchctlCommand(program: string, directory: string, path: string): string {
  const beside = join(dirname(program), 'orchctl')
  const linked = (file: string) => existsSync(file) && realpathSync(file) === beside
  // Skip `node_modules/.bin` directories: npm adds them to the PATH of its child processes, but they are not on the
  // PATH of the user's shell.
  const ofShells = path
    .split(delimiter)
    .filter((entry) => entry !== '' && !entry.includes(join('node_modules', '.bin')))
  if (ofShells.some((entry) => linked(join(entry, 'orchctl')))) return 'orchctl'
  if (linked(join(directory, 'node_modules', '.bin', 'orchctl'))) return 'npx orchctl'
  const way = relative(directory, beside)
  return way.startsWith(`..${sep}`) ? beside : `.${sep}${way}`
}
