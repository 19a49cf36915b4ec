/** Formats flags for `--help`, either as a table or in groups with the help for each flag below its name. */
import { fillLines } from '../text/fill-lines.ts'
import type { Flag, Flags } from './flags.ts'

/** Returns a table of flags with their defaults. */
export function helpText(flags: Flags): string {
  const all = Object.values(flags).filter(({ hidden = false }) => !hidden)
  const lettered = all.some(({ letter }) => letter !== '')
  const rows = all.map((flag) => ({ usage: flagHelp(flag, lettered), right: explanation(flag) }))
  const width = Math.max(...rows.map(({ usage }) => usage.length)) + 2
  return rows.map(({ usage, right }) => `${usage.padEnd(width)}${right}`).join('\n')
}

const indent = ' '.repeat(14)
/** Maximum width of a line. Longer lines are hard to read, even on a wide terminal. */
const maxWidth = 120

/** Returns groups of flags under their titles. Lines are wrapped at `width` characters where possible. */
export function groupedHelp(groups: { readonly [title: string]: Flags }, width: number): string {
  const room = Math.min(width, maxWidth) - indent.length
  const sections = Object.entries(groups).map(([title, flags]) => {
    const rows = Object.values(flags).flatMap((flag) => [
      flagHelp(flag, true),
      ...fillLines(explanation(flag), room).map((line) => indent + line),
    ])
    return [`${title} flags:`, '', ...rows, ''].join('\n')
  })
  return sections.join('\n')
}

function flagHelp({ letter, name, value }: Flag<unknown>, lettered: boolean): string {
  const short = letter === '' ? '    ' : `-${letter}, `
  return `  ${lettered ? short : ''}--${name}${value === '' ? '' : `=${value}`}`
}

/** Returns the help for a flag, including its default. */
export function explanation(flag: Flag<unknown>): string {
  return flag.default === '' ? flag.help : `${flag.help} (default ${flag.default})`
}
