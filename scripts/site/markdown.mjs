// Renders the Markdown of this repository as HTML: headings, paragraphs, lists, tables, quotes, fenced blocks, images,
// links, code, and bold and italic text. HTML in a page is shown as text, and comments are omitted.

/**
 * Returns the HTML of a page. `linkTo` maps the target of a link or an image in the page to its URL. `onHeading` is
 * called for each heading with its level, text and anchor.
 */
export function renderMarkdown(page, { linkTo, onHeading }) {
  const anchors = new Map()
  const context = { linkTo, onHeading, anchors }
  return blocks(page.replaceAll(/^<!--[\s\S]*?-->\n?/gm, '').split('\n'), context)
}

/** Returns the anchor of a heading, as GitHub generates it. */
export function anchorOf(title) {
  const words = title.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
  return words.trim().replaceAll(/\s/g, '-')
}

export function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

const fence = /^( *)```(\S*)$/
const item = /^( *)(-|\d+\.) +/
const isRow = (line) => line?.startsWith('|') ?? false
const startsBlock = (line) =>
  line.trim() === '' || fence.test(line) || /^#+ /.test(line) || isRow(line) || line.startsWith('> ')

function blocks(lines, context) {
  const html = []
  while (lines.length > 0) {
    const line = lines[0]
    if (line.trim() === '') lines.shift()
    else if (fence.test(line)) html.push(code(lines))
    else if (/^#+ /.test(line)) html.push(heading(lines.shift(), context))
    else if (isRow(line)) html.push(table(takeWhile(lines, isRow), context))
    else if (line.startsWith('> '))
      html.push(
        quote(
          takeWhile(lines, (each) => each.startsWith('>')),
          context,
        ),
      )
    else if (item.test(line)) html.push(list(lines, context))
    else html.push(`<p>${inline(paragraph(lines).join('\n'), context)}</p>`)
  }
  return html.join('\n')
}

function takeWhile(lines, belongs) {
  const end = lines.findIndex((line) => !belongs(line))
  return lines.splice(0, end === -1 ? lines.length : end)
}

function paragraph(lines) {
  const first = lines.shift()
  return [first, ...takeWhile(lines, (line) => !startsBlock(line) && !item.test(line))]
}

function code(lines) {
  const [, indent] = fence.exec(lines.shift())
  const body = takeWhile(lines, (line) => line.trim() !== '```').map((line) => line.slice(indent.length))
  lines.shift()
  return `<pre tabindex="0"><code>${escapeHtml(body.join('\n'))}</code></pre>`
}

function heading(line, context) {
  const [, marks, title] = /^(#+) (.*)$/.exec(line)
  const count = context.anchors.get(anchorOf(title)) ?? 0
  context.anchors.set(anchorOf(title), count + 1)
  const anchor = count === 0 ? anchorOf(title) : `${anchorOf(title)}-${count}`
  context.onHeading({ level: marks.length, title: title.replaceAll('`', ''), anchor })
  return `<h${marks.length} id="${escapeHtml(anchor)}">${inline(title, context)}</h${marks.length}>`
}

function table([head, , ...rows], context) {
  const cells = (row) =>
    row
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim().replaceAll('\\|', '|'), context))
  const heads = cells(head).map((cell) => (cell === '' ? '<td></td>' : `<th scope="col">${cell}</th>`))
  const body = rows.map(
    (row) =>
      `<tr>${cells(row)
        .map((cell) => `<td>${cell}</td>`)
        .join('')}</tr>`,
  )
  const content = `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table>`
  return `<div class="wide" tabindex="0">${content}</div>`
}

function quote(lines, context) {
  return `<blockquote>${blocks(
    lines.map((line) => line.replace(/^> ?/, '')),
    context,
  )}</blockquote>`
}

/** Renders a list. The lines of an item are those that are indented further than its marker. */
function list(lines, context) {
  const [, indent, mark] = item.exec(lines[0])
  const tag = mark === '-' ? 'ul' : 'ol'
  const items = []
  while (lines.length > 0 && item.exec(lines[0])?.[1].length === indent.length) {
    const [start] = item.exec(lines[0])
    const first = lines.shift().slice(start.length)
    const rest = takeWhile(lines, (line) => belongsToItem(line, indent.length))
    while (rest.at(-1)?.trim() === '') rest.pop()
    const body = [first, ...rest.map((line) => line.slice(Math.min(start.length, line.search(/\S|$/))))]
    const html = blocks(body, context)
    items.push(`<li>${/^<p>[\s\S]*<\/p>$/.test(html) && !html.includes('<p>', 1) ? html.slice(3, -4) : html}</li>`)
    if (lines[0]?.trim() === '' && item.exec(lines[1] ?? '')?.[1].length === indent.length) lines.shift()
  }
  return `<${tag}>${items.join('\n')}</${tag}>`
}

function belongsToItem(line, indent) {
  return line.trim() === '' || line.search(/\S/) > indent
}

/** Renders text. Code is set aside first, because marks inside code have no meaning. */
function inline(text, context) {
  const codes = []
  const aside = text.replaceAll(/(`+)([\s\S]*?[^`])\1(?!`)/g, (_, _marks, content) => {
    codes.push(`<code>${escapeHtml(content.trim().replaceAll(/\s*\n\s*/g, ' '))}</code>`)
    return `\uE000${codes.length - 1}\uE000`
  })
  const html = escapeHtml(aside)
    .replaceAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g, (_, alt, target) => `<img src="${context.linkTo(target)}" alt="${alt}">`)
    .replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_, label, target) => `<a href="${context.linkTo(target)}">${label}</a>`)
    .replaceAll(/&lt;(https?:[^\s&]+)&gt;/g, '<a href="$1">$1</a>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, '<em>$1</em>')
  return html.replaceAll(/\uE000(\d+)\uE000/g, (_, index) => codes[Number(index)])
}
