/**
 * Finds the texts in this repository that people read, by category: comments, API descriptions, help, log messages,
 * errors, test names, documentation and commit subjects. `sample-texts.ts` draws samples from these texts, and
 * `check-phrases.ts` checks them. The sources are read as text rather than as a syntax tree, so a few texts that
 * consist of several parts are missed.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)

/** A text with the file in which it occurs. */
export interface Text {
  readonly file: string
  readonly text: string
}

/**
 * Matches an expression in a template literal. Braces and template literals in the expression may be nested at most
 * once.
 */
const placeholder = String.raw`\$\{(?:[^${'`'}{}]|\{[^{}]*\}|${'`'}[^${'`'}]*${'`'})*\}`

/** Matches a string literal on one line, and captures the text without its quotes. */
const literal = String.raw`(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|${'`'}((?:[^${'`'}\\$]|\\.|\$(?!\{)|${placeholder})*)${'`'})`

const patterns = {
  descriptions: new RegExp(String.raw`\bdoc:\s*${literal}`, 'g'),
  help: new RegExp(String.raw`\b(?:help|about|summary):\s*${literal}`, 'g'),
  logs: new RegExp(String.raw`\blog\.(?:info|warn|error|detail|verbose)\(\s*(?:\d+,\s*)?${literal}`, 'g'),
  errors: new RegExp(
    String.raw`\b(?:new [A-Z]\w*Error|badRequest|conflict|tooManyRequests|usage)\(\s*${literal}|\b(?:invalid|forbidden|refusal)\([^'"${'`'}\n]*(?:'[^'\n]*',\s*)?[^'"${'`'}\n]*,\s*${literal}`,
    'g',
  ),
  tests: new RegExp(String.raw`^\s*(?:await )?(?:t\.)?test\(\s*${literal}`, 'gm'),
}

/** The categories, each with a function that finds the texts of the category. */
export const categories: { readonly [category: string]: () => readonly Text[] } = {
  descriptions: () => inFiles('src/{api,apiserver}/**/*.ts', patterns.descriptions),
  help: () => inFiles('src/{tools/cli,tools/joining,server}/**/*.ts', patterns.help),
  logs: () => inFiles('src/**/*.ts', patterns.logs),
  errors: () => inFiles('src/**/*.ts', patterns.errors),
  comments: () => filesOf('{src,test,bench,scripts}/**/*.{ts,tsx}').flatMap(commentsOf),
  tests: () => inFiles('test/**/*.test.ts', patterns.tests),
  docs: () =>
    filesOf('{*.md,docs/**/*.md}')
      .filter(({ file }) => file !== 'CHANGELOG.md')
      .flatMap(sentencesOf),
  commits: () => commitSubjects(),
}

function filesOf(pattern: string): readonly Text[] {
  const files = globSync(pattern, { cwd: root, exclude: ['node_modules/**', 'test/data/**'] }).sort()
  return files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
}

function inFiles(glob: string, pattern: RegExp): readonly Text[] {
  return filesOf(glob).flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const matchedPart = match.slice(1).find((part) => part !== undefined)
      return matchedPart === undefined || !isProse(matchedPart) ? [] : [{ file, text: withoutCode(matchedPart) }]
    }),
  )
}

/** Returns the text of a literal without escapes, and with placeholders such as `<name>` instead of expressions. */
function withoutCode(literalText: string): string {
  return literalText
    .replaceAll(/\\(['"`])/g, '$1')
    .replaceAll(
      new RegExp(placeholder, 'g'),
      (expression) => `<${/^\$\{[\w.]*?(\w+)\}$/.exec(expression)?.[1] ?? 'value'}>`,
    )
}

/** Whether a text contains at least two words. */
function isProse(text: string): boolean {
  return /[a-z]+ [a-z]/i.test(text)
}

/** Returns doc comments. Adjacent lines that start with `//` count as one comment. */
function commentsOf({ file, text }: Text): readonly Text[] {
  // A block comment begins after a space or a bracket, because the `/*` in a media type such as `application/*` is not
  // a comment.
  const blocks = [...text.matchAll(/(?<![^\s({[,])\/\*\*?([\s\S]*?)\*\//g)].map(([, block]) =>
    block!.replaceAll(/^\s*\* ?/gm, ''),
  )
  const lines = [...text.matchAll(/(?:^[ \t]*\/\/ ?.*\n)+/gm)].map(([block]) => block.replaceAll(/^[ \t]*\/\/ ?/gm, ''))
  return [...blocks, ...lines]
    .map((comment) => ({ file, text: comment.replaceAll(/\s+/g, ' ').trim() }))
    .filter((comment) => isProse(comment.text))
}

/**
 * Returns the sentences outside of code blocks, tables and headings. Neither inline code nor a colon ends a sentence.
 */
function sentencesOf({ file, text }: Text): readonly Text[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, '').replaceAll(/^(?: *\||#|<).*$/gm, '')
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim())
    .map((paragraph) => paragraph.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(' ', '\0')))
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?]) (?=[A-Z`*[])/))
    .map((sentence) => sentence.replaceAll('\0', ' '))
    .filter((sentence) => sentence.length > 20 && isProse(sentence))
    .map((sentence) => ({ file, text: sentence }))
}

/** Returns the subjects of the latest commits, or nothing in a clone without history. */
function commitSubjects(): readonly Text[] {
  try {
    const subjects = execFileSync('git', ['log', '-200', '--no-merges', '--format=%s'], { cwd: root, encoding: 'utf8' })
    return subjects.split('\n').flatMap((text) => (text === '' ? [] : [{ file: 'commit', text }]))
  } catch {
    return []
  }
}
