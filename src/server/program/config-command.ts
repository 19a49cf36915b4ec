/**
 * `orch config`: prints a configuration file with all defaults, or checks a file
 * (`server/flags/configuration-file.ts`).
 */
import { type Flag, type Flags, flag, oneOf, parseCommandLine, UsageError } from '../../base/flags/flags.ts'
import { fillLines } from '../../base/text/fill-lines.ts'
import { assertLoopNames, flagGroupsOf, readServerFlags, serverCommands } from '../flags/command-line.ts'
import {
  configurationKind,
  configurationVersion,
  type FlagGroups,
  flagField,
  groupField,
  hasField,
  readConfiguration,
  readConfigurationFile,
} from '../flags/configuration-file.ts'

export const configFlags = {
  command: flag({
    name: 'command',
    value: serverCommands.join('|'),
    default: 'up',
    read: oneOf(serverCommands),
    help: 'orch command that reads the configuration file',
  }),
} satisfies Flags

const maxBytes = 16 * 1024 * 1024

/**
 * Runs `orch config defaults` or `orch config check FILE` and returns the output. The file name `-` means that the file
 * is read from `input`.
 */
export async function configCommand(
  args: readonly string[],
  input: AsyncIterable<Uint8Array> = process.stdin,
): Promise<string> {
  const {
    words: [verb, ...files],
    options: { command },
  } = parseCommandLine(configFlags, args)
  const groups = await flagGroupsOf(command)
  if (verb === 'defaults' && files.length === 0) return defaultConfiguration(groups)
  const [file, ...others] = files
  if (verb !== 'check' || file === undefined || others.length > 0)
    throw new UsageError('unknown command: use orch config defaults, or orch config check FILE')
  const name = file === '-' ? 'standard input' : file
  const fields = await (file === '-'
    ? readConfiguration(name, await readText(input), groups)
    : readConfigurationFile(file, groups))
  await assertLoopNames(
    await readServerFlags(
      command,
      fields.map(({ name, value }) => `--${name}=${value}`),
    ),
  )
  return `${name} is valid for orch ${command}\n`
}

async function readText(input: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of input) {
    bytes += part.length
    if (bytes > maxBytes) throw new UsageError(`standard input has more than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** Returns a file with every field. The fields of flags without a default are commented out. */
function defaultConfiguration(groups: FlagGroups): string {
  const sections = Object.entries(groups).map(([title, flags]) => {
    const fields = Object.values(flags).filter(hasField).map(fieldText)
    return `${groupField(title)}:\n${fields.join('')}`
  })
  return [`apiVersion: ${configurationVersion}\nkind: ${configurationKind}\n`, ...sections].join('\n')
}

const maxWidth = 110

function fieldText(flag: Flag<unknown>): string {
  const help = fillLines(flag.help, maxWidth).map((line) => `  # ${line}\n`)
  const { value: placeholder, readAll } = flag
  const initial = placeholder === '' && flag.default === '' ? 'false' : flag.default
  const field =
    initial === ''
      ? `  # ${flagField(flag.name)}: ${readAll === undefined ? placeholder : `[${placeholder}]`}\n`
      : `  ${flagField(flag.name)}: ${yamlScalar(initial)}\n`
  return help.join('') + field
}

function yamlScalar(text: string): string {
  return /^(?:true|false|0|[1-9]\d*)$/.test(text) ? text : JSON.stringify(text)
}
