/** The program `orchctl`: the command-line client. Its commands are still to come. */
const version = '0.1.0'

const usage = `orchctl ${version}: the command-line client of orch

Usage:
  orchctl version   print the version
  orchctl help      print this

Commands that talk to a server are not built yet; any HTTPS client works with the certificates in .orch/admin.kubeconfig.
`

const [command] = process.argv.slice(2)
if (command === 'version' || command === '--version') {
  process.stdout.write(`orchctl ${version}\n`)
} else if (command === undefined || command === 'help' || command === '--help' || command === '-h') {
  process.stdout.write(usage)
} else {
  process.stderr.write(`orchctl: the command ${JSON.stringify(command)} is not built yet; built are version and help\n`)
  process.exitCode = 1
}
