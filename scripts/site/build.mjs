// `npm run docs` builds the documentation as a static site in `site/`, from the Markdown files of this repository. The
// site needs no server and sends no requests to other hosts: open `site/index.html`. Other files to which pages link
// are copied.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { escapeHtml, renderMarkdown } from './markdown.mjs'

const root = join(import.meta.dirname, '../..')
const assets = join(import.meta.dirname, 'assets')
const home = 'README.md'
const index = 'docs/README.md'
/** Maximum number of characters that the search covers in a section. */
const maxSectionText = 4_000

/** Builds the site in a directory, which is deleted first. Returns the paths of its pages. */
export function buildSite(directory, versions) {
  rmSync(directory, { recursive: true, force: true })
  const pages = pageNames()
  const navigation = navigationOf(readFileSync(join(root, index), 'utf8'))
  const sections = []
  const files = new Set()
  for (const name of pages) {
    const content = renderPage(name, { pages, files, sections })
    write(directory, outputName(name), template(name, { content, navigation, versions }))
  }
  for (const file of files) {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    copyFileSync(join(root, file), join(directory, file))
  }
  for (const name of readdirSync(assets)) write(directory, `assets/${name}`, readFileSync(join(assets, name)))
  write(directory, 'assets/search-index.js', `globalThis.searchIndex = ${JSON.stringify(sections)}\n`)
  return [...pages].map(outputName)
}

function pageNames() {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const others = readdirSync(root).filter((name) => name.endsWith('.md'))
  const docs = inDocs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  return new Set([...others, ...docs, 'test/BUGS.md'].sort())
}

function outputName(page) {
  return page === home ? 'index.html' : page.replace(/\.md$/, '.html')
}

function renderPage(name, { pages, files, sections }) {
  const text = readFileSync(join(root, name), 'utf8')
  const titles = []
  const content = renderMarkdown(text, {
    linkTo: (target) => urlOf(name, target, { pages, files }),
    onHeading: (heading) => titles.push(heading),
  })
  const parts = text
    .replaceAll(/^<!--[\s\S]*?-->\n?/gm, '')
    .split(/^#+ .*$/m)
    .slice(1)
  const page = titles[0]?.title ?? name
  titles.forEach(({ title, anchor }, i) => {
    const words = (parts[i] ?? '').replaceAll(/[`*|[\]]|\([^)\s]+\)/g, ' ').replaceAll(/\s+/g, ' ')
    sections.push({ page, title, url: `${outputName(name)}#${anchor}`, text: words.slice(0, maxSectionText) })
  })
  return content
}

/** Returns the URL for a link in a page. Links to directories lead to their READMEs. */
function urlOf(page, target, { pages, files }) {
  if (/^[a-z]+:/.test(target)) return target
  const [path, anchor] = target.split('#')
  if (path === '') return `#${anchor}`
  const file = normalize(join(dirname(page), path)).replace(/\/$/, '')
  const isDirectory = statSync(join(root, file)).isDirectory()
  const linked = isDirectory ? `${file}/README.md` : file
  if (!pages.has(linked)) files.add(linked)
  const output = pages.has(linked) ? outputName(linked) : linked
  return `${relative(dirname(outputName(page)), output)}${anchor === undefined ? '' : `#${anchor}`}`
}

/** Returns the groups of links in the index: the title of each group, and the title and page of each link. */
function navigationOf(text) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((group) => {
      const links = [...group.matchAll(/^- \[([^\]]+)\]\(([^)#\s]+\.md)\)/gm)]
      return {
        title: group.split('\n')[0],
        links: links.map(([, title, target]) => ({ title, page: normalize(join(dirname(index), target)) })),
      }
    })
}

function template(name, { content, navigation, versions }) {
  const top = relative(dirname(outputName(name)), '.') || '.'
  const title = /<h1[^>]*>([\s\S]*?)<\/h1>/.exec(content)?.[1].replaceAll(/<[^>]+>/g, '') ?? name
  const groups = navigation.map(({ title, links }) => {
    const items = links.map((link) => {
      const current = link.page === name ? ' aria-current="page"' : ''
      return `<li><a href="${top}/${outputName(link.page)}"${current}>${escapeHtml(link.title)}</a></li>`
    })
    return `<h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul>`
  })
  const values = { title, top, content, navigation: groups.join('\n'), index: outputName(index) }
  const options = versions.map((version) => `<option>${version}</option>`).join('')
  const page = readFileSync(join(import.meta.dirname, 'page.html'), 'utf8')
  return page.replaceAll(/\{(\w+)\}/g, (whole, key) => (key === 'versions' ? options : (values[key] ?? whole)))
}

function write(directory, name, content) {
  const file = join(directory, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
