/**
 * Generates the manual pages of both programs: one page for each program and one for each command. The pages are
 * generated from the definitions that `--help` prints, so the pages always agree with the help. They contain no date,
 * so their text depends only on the code.
 */
import { version } from '../../src/api/model/version.ts'
import { explanation } from '../../src/base/flags/flag-help.ts'
import type { Flag, Flags } from '../../src/base/flags/flags.ts'
import { commands as serverCommands, tasks } from '../../src/server/program/help.ts'
import { commands as clientCommands } from '../../src/tools/cli/commands/all.ts'
import type { CommandEntry, CommandGroup } from '../../src/tools/cli/commands/entry.ts'
import { connectionFlags } from '../../src/tools/cli/connection/connection-flags.ts'
import { entry, escaped, inFont, literal, paragraphs, section, subsection } from './roff.ts'

/** A manual page, before formatting. */
interface Page {
  /** The command, such as `orchctl config view`. The page has the same name, but with hyphens instead of spaces. */
  readonly command: string
  readonly summary: string
  /** Arguments of the command, one line per form. */
  readonly forms: readonly string[]
  readonly about: string
  readonly flagGroups?: { readonly [title: string]: Flags }
  readonly commands?: readonly { readonly name: string; readonly summary: string }[]
  /** Examples, with or without a description. */
  readonly examples?: readonly (readonly [description: string, ...commands: string[]])[]
  /** Names of other pages to list under SEE ALSO. */
  readonly seeAlso: readonly string[]
}

/** Returns the manual pages by file name, such as `orch-up.1`. */
export async function manualPages(): Promise<ReadonlyMap<string, string>> {
  const pages = [...(await serverPages()), ...(await clientPages())]
  return new Map(pages.map((page) => [`${pageName(page.command)}.1`, write(page)]))
}

function pageName(command: string): string {
  return command.replaceAll(' ', '-')
}

async function serverPages(): Promise<Page[]> {
  const entries = Object.entries(serverCommands)
  const overview: Page = {
    command: 'orch',
    summary: 'a cluster-orchestration API server',
    forms: ['COMMAND [flags]', 'help [COMMAND]', 'help flags'],
    about:
      'Serves an API that is compatible with Kubernetes, on an embedded store or etcd. Each command has a manual page, such as orch-up(1). To work with the objects of a cluster, use orchctl(1).',
    commands: entries.map(([name, { summary }]) => ({ name, summary })),
    examples: tasks.map(([task, command]) => [`${task}:`, ...command.split(/, (?:then )?(?=orch )/)]),
    seeAlso: [...entries.map(([name]) => `orch ${name}`), 'orchctl'],
  }
  const pages = entries.map(async ([name, { form, summary, about, flagGroups }]): Promise<Page> => {
    const forms = [form.slice(name.length)]
    return {
      command: `orch ${name}`,
      summary,
      forms,
      about,
      flagGroups: await flagGroups(),
      seeAlso: ['orch', 'orchctl'],
    }
  })
  return [overview, ...(await Promise.all(pages))]
}

async function clientPages(): Promise<Page[]> {
  const overview: Page = {
    command: 'orchctl',
    summary: 'the command-line client of orch',
    forms: ['COMMAND [arguments] [flags]', 'help [COMMAND]'],
    about: 'Reads and changes the objects of a cluster. Each command has a manual page, such as orchctl-get(1).',
    commands: clientCommands,
    flagGroups: { 'Flags of all commands': connectionFlags },
    seeAlso: [...clientCommands.map(({ name }) => `orchctl ${name}`), 'orch'],
  }
  const pages = await Promise.all(clientCommands.map(async (command) => await pagesOf(command, 'orchctl')))
  return [overview, ...pages.flat()]
}

/** Returns the page of an orchctl command and the pages of its subcommands. */
async function pagesOf(node: CommandEntry | CommandGroup, parent: string): Promise<Page[]> {
  const command = `${parent} ${node.name}`
  const subcommands = 'commands' in node ? node.commands : []
  const own = await node.load?.()
  const global: readonly Flag<unknown>[] = Object.values(connectionFlags)
  const flags = Object.entries(own?.flags ?? {}).filter(([, flag]) => !global.includes(flag))
  const aliases = node.aliases === undefined ? '' : `\nOther names of this command: ${node.aliases.join(', ')}.`
  const page: Page = {
    command,
    summary: node.summary,
    forms: [...(own?.forms ?? []), ...(subcommands.length > 0 ? ['COMMAND [arguments] [flags]'] : [])],
    about: `${own?.about ?? `The commands of this group ${node.summary}.`}${aliases}\nFor flags that all commands accept, such as -n, see orchctl(1).`,
    flagGroups: { '': Object.fromEntries(flags) },
    commands: subcommands,
    examples: (own?.examples ?? []).map((example) => ['', example]),
    seeAlso: [parent, ...subcommands.map(({ name }) => `${command} ${name}`)],
  }
  const pages = await Promise.all(subcommands.map(async (subcommand) => await pagesOf(subcommand, command)))
  return [page, ...pages.flat()]
}

function write(page: Page): string {
  const name = pageName(page.command)
  const lines = [
    `.TH "${escaped(name.toUpperCase())}" 1 "" "orch ${escaped(version)}" "orch manual"`,
    // Text is left-aligned and not hyphenated, because words are often names that users copy.
    '.ad l',
    '.nh',
    ...section('NAME', [`${escaped(name)} \\- ${escaped(page.summary)}`]),
    ...section('SYNOPSIS', page.forms.flatMap((form) => synopsis(page.command, form)).slice(1)),
    ...section('DESCRIPTION', paragraphs(page.about)),
    ...section(
      'COMMANDS',
      (page.commands ?? []).flatMap(({ name, summary }) => entry(inFont('B', name), summary)),
    ),
    ...section('OPTIONS', Object.entries(page.flagGroups ?? {}).flatMap(flagList)),
    ...section('EXAMPLES', (page.examples ?? []).flatMap(example)),
    ...section('SEE ALSO', [page.seeAlso.map((command) => `${inFont('B', pageName(command))}(1)`).join(',\n')]),
  ]
  return `${lines.join('\n')}\n`
}

function synopsis(command: string, form: string): string[] {
  return ['.br', `${inFont('B', command)} ${escaped(form)}`.trimEnd()]
}

function flagList([title, flags]: [title: string, flags: Flags]): string[] {
  const visible = Object.values(flags).filter(({ hidden = false }) => !hidden)
  const lines = visible.flatMap((flag) => entry(flagTerm(flag), explanation(flag)))
  return title === '' ? lines : subsection(title, lines)
}

function flagTerm({ letter, name, value }: Flag<unknown>): string {
  const short = letter === '' ? '' : `${inFont('B', `-${letter}`)}, `
  return `${short}${inFont('B', `--${name}`)}${value === '' ? '' : `=${inFont('I', value)}`}`
}

function example([description, ...commands]: readonly [description: string, ...commands: string[]]): string[] {
  return ['.PP', ...(description === '' ? [] : [escaped(description)]), '.RS 4', ...literal(commands), '.RE']
}
