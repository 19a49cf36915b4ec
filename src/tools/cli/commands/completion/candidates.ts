/**
 * Computes shell completion candidates for the word at the cursor: commands, flags and their values, types, object
 * names, namespaces and contexts. If no server responds, only candidates that need no server are returned. Errors are
 * never reported.
 */
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Flag, type Flags, parseCommandLine } from '../../../../base/flags/flags.ts'
import { withConnection } from '../../connection/connect.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { ServedTypes } from '../../connection/served-types.ts'
import type { Context } from '../../program/command.ts'
import { readConfig } from '../config/config-files.ts'
import type { CommandEntry, CommandGroup } from '../entry.ts'

type Entries = readonly (CommandEntry | CommandGroup)[]

/** Marker that makes the shell complete file names itself. */
const filesMark = ':files'

/** Returns the candidates. `words` are the words up to the cursor. The last of them is being completed. */
export async function candidates(context: Context, commands: Entries, words: readonly string[]): Promise<string[]> {
  const before = words.slice(0, -1)
  const last = words.at(-1) ?? ''
  try {
    const candidates = await candidatesFor(context, commands, { before, last })
    if (candidates.includes(filesMark)) return [filesMark]
    // Text from the server must neither control the terminal nor be split into several words.
    return [...new Set(candidates)].filter((word) => word.startsWith(last) && /^[!-~]+$/.test(word)).sort()
  } catch {
    // Ignore the error: a message would disrupt the line that the user is typing.
    return []
  }
}

interface Line {
  readonly before: readonly string[]
  readonly last: string
}

async function candidatesFor(context: Context, commands: Entries, { before, last }: Line): Promise<string[]> {
  const { entry, inner, after } = follow(commands, before)
  const command = entry?.load === undefined ? undefined : await entry.load()
  const flags = command?.flags ?? connectionFlags
  const typedFlag = flagBeingTyped(flags, before, last)
  if (typedFlag !== undefined) return await valuesOf(context, typedFlag, { before, last })
  if (last.startsWith('-'))
    return Object.values(flags)
      .filter(({ hidden = false }) => !hidden)
      .map(({ name, value }) => (value === '' ? `--${name}` : `--${name}=`))
  const rest = wordsIn(flags, after)
  if (inner.length > 0 && rest.length === 0) return inner.map(({ name }) => name)
  if (command === undefined) return []
  return await argumentsOf(context, command.forms, { before, last, rest })
}

/** Returns the command that the words select, its subcommands, and the remaining words. */
function follow(
  commands: Entries,
  words: readonly string[],
): { entry?: CommandEntry | CommandGroup; inner: Entries; after: readonly string[] } {
  let inner: Entries = commands
  let entry: CommandEntry | CommandGroup | undefined
  let after = words
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (word.startsWith('-')) {
      if (takesNext(connectionFlags, word)) i++
      continue
    }
    const matchingEntry = inner.find(({ name, aliases = [] }) => name === word || aliases.includes(word))
    if (matchingEntry === undefined) break
    ;[entry, inner, after] = [
      matchingEntry,
      'commands' in matchingEntry ? matchingEntry.commands : [],
      words.slice(i + 1),
    ]
  }
  return { ...(entry === undefined ? {} : { entry }), inner, after }
}

/** Returns the words that are neither flags nor their values. */
function wordsIn(flags: Flags, args: readonly string[]): string[] {
  return args.filter((arg, i) => !arg.startsWith('-') && !(i > 0 && takesNext(flags, args[i - 1]!)))
}

function takesNext(flags: Flags, word: string): boolean {
  const matchingFlag = Object.values(flags).find(
    ({ name, letter }) => word === `--${name}` || (letter !== '' && word === `-${letter}`),
  )
  return matchingFlag !== undefined && matchingFlag.value !== ''
}

/** Returns the flag whose value the user is typing, or undefined if the last word is not a flag value. */
function flagBeingTyped(flags: Flags, before: readonly string[], last: string): Flag<unknown> | undefined {
  const all = Object.values(flags)
  if (last.startsWith('--') && last.includes('=')) return all.find(({ name }) => last.startsWith(`--${name}=`))
  const previous = before.at(-1) ?? ''
  return all.find(
    ({ name, letter, value }) =>
      value !== '' && (previous === `--${name}` || (letter !== '' && previous === `-${letter}`)),
  )
}

async function valuesOf(context: Context, flag: Flag<unknown>, { before, last }: Line): Promise<string[]> {
  const isLong = last.startsWith('--')
  if (/FILE$|^DIR$/.test(flag.value)) {
    const lead = `--${flag.name}=`
    // For --flag=value, shells see a single word and would look for a file with this name.
    return isLong ? filesAt(context, last.slice(lead.length)).map((file) => `${lead}${file}`) : [filesMark]
  }
  const values = await knownValues(context, flag, before)
  return isLong ? values.map((value) => `--${flag.name}=${value}`) : values
}

/** Lists the files in the directory of the path being typed. */
function filesAt({ directory }: Context, typed: string): string[] {
  const lead = typed.slice(0, typed.lastIndexOf('/') + 1)
  const entries = readdirSync(resolve(directory, lead), { withFileTypes: true })
  return entries.map((entry) => `${lead}${entry.name}${entry.isDirectory() ? '/' : ''}`)
}

async function knownValues(
  context: Context,
  { name, value }: Flag<unknown>,
  before: readonly string[],
): Promise<string[]> {
  if (name === 'namespace') return await namesOf(context, before, 'namespaces')
  if (name === 'context') return await contextNames(context, before)
  if (name === 'output') return ['json', 'yaml', 'name', 'wide', 'jsonpath=', 'custom-columns=']
  return value.includes('|') ? value.split('|') : []
}

async function contextNames(context: Context, before: readonly string[]): Promise<string[]> {
  const { contexts } = await readConfig(context, { kubeconfig: optionsIn(before).kubeconfig, context: '' })
  return contexts.map((each) => each.name)
}

/** Parses the connection flags on an incomplete command line. Ignores all other words. */
function optionsIn(words: readonly string[]) {
  const args: string[] = []
  for (const [i, word] of words.entries()) {
    const connectionFlag = Object.values(connectionFlags).find(
      ({ name, letter }) =>
        word.startsWith(`--${name}=`) || word === `--${name}` || (letter !== '' && word === `-${letter}`),
    )
    if (connectionFlag === undefined) continue
    const next = words[i + 1]
    // Skip a flag without a value: the user is still typing it.
    if (!takesNext(connectionFlags, word)) args.push(word)
    else if (next !== undefined) args.push(word, next)
  }
  return parseCommandLine(connectionFlags, args).options
}

interface Arguments extends Line {
  /** The words before the one that the user is typing. */
  readonly rest: readonly string[]
}

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** Returns candidates for the arguments of a command, based on the usage lines of its help. */
async function argumentsOf(context: Context, forms: readonly string[], line: Arguments): Promise<string[]> {
  const [form = ''] = forms
  const choice = /^[a-z]+(?:\|[a-z]+)+$/.exec(form)
  if (choice !== null) return line.rest.length === 0 ? form.split('|') : []
  if (form.startsWith('VERB'))
    return line.rest.length === 0 ? verbs : await resources(context, { ...line, rest: line.rest.slice(1) })
  if (forms.some((each) => each.includes('TYPE'))) return await resources(context, line)
  if (form.startsWith('CSR')) return await namesOf(context, line.before, 'certificatesigningrequests')
  if (line.rest.length > 0) return []
  if (form.startsWith('SERVICE_ACCOUNT')) return await namesOf(context, line.before, 'serviceaccounts')
  return /^\(?CONTEXT/.test(form) ? await contextNames(context, line.before) : []
}

/** Completes types, including comma-separated types, and then object names: `get cm gree`, `get cm/gree`. */
async function resources(context: Context, { before, last, rest }: Arguments): Promise<string[]> {
  const slash = last.indexOf('/')
  if (slash > 0)
    return (await namesOf(context, before, last.slice(0, slash))).map((name) => `${last.slice(0, slash)}/${name}`)
  const [type] = rest
  if (type !== undefined && !type.includes('/')) return await namesOf(context, before, type)
  const lead = last.slice(0, last.lastIndexOf(',') + 1)
  return await withConnection(context, optionsIn(before), async ({ client }) => {
    const { types } = await new ServedTypes(client, context.signal).all()
    return types.filter(({ verbs }) => verbs.includes('get')).map(({ plural }) => `${lead}${plural}`)
  })
}

const maxNames = 500

async function namesOf(context: Context, before: readonly string[], word: string): Promise<string[]> {
  return await withConnection(context, optionsIn(before), async ({ client, namespace }) => {
    const type = await new ServedTypes(client, context.signal).typeNamed(word)
    const { value: page } = await client
      .pages(type, { ...(type.namespaced ? { namespace } : {}), limit: maxNames })
      .next()
    const items: { metadata: { name?: string } }[] = page?.items ?? []
    return items.flatMap(({ metadata }) => metadata.name ?? [])
  })
}
