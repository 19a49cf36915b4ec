/**
 * What the parts of `commands.test.ts` are made of: rows, one command line each, that build on each other in the order of
 * their part. A part begins with what is `given`, and with nothing that another has left: it runs alone.
 */
export interface Row {
  /** The command that the row is for. */
  readonly command: string
  readonly args: readonly string[]
  readonly stdin?: string
  readonly environment?: { readonly [name: string]: string }
  /** Written into its directory before it runs. */
  readonly files?: { readonly [name: string]: string }
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
  readonly code?: number
}

export interface Part {
  readonly name: string
  /** A manifest of what is there before the first row. */
  readonly given: string
  readonly rows: readonly Row[]
}

/** `r('get', 'cm a')`: words are separated by blanks that are not in quotes. */
export function r(command: string, line: string, said: Omit<Row, 'command' | 'args'> = {}): Row {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  const bare = words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, a = '', b = '') => `${a}${b}`))
  return { command, args: [...command.split(' '), ...bare], ...said }
}

export const map = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${more}}\ndata: {k: v}\n`

export const web = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: a
        image: nginx
        env:
        - {name: X, value: "1"}
        - {name: Z, value: "2"}
`
