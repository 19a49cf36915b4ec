/**
 * Building blocks for `commands.test.ts`: each row is one command line, and the rows of a part build on each other. A
 * part starts with its `given` objects and without the objects of other parts, so that the part can run alone.
 */
export interface Row {
  /** The command under test. */
  readonly command: string
  readonly args: readonly string[]
  readonly stdin?: string
  readonly environment?: { readonly [name: string]: string }
  /** Files to write to the directory before the command runs. */
  readonly files?: { readonly [name: string]: string }
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
  readonly code?: number
}

export interface Part {
  readonly name: string
  /** Manifest of the objects that exist before the first row. */
  readonly given: string
  readonly rows: readonly Row[]
}

/** Creates a row, as in `r('get', 'cm a')`. Splits the line into words at blanks outside quotes. */
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
