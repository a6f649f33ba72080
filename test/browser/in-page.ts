/**
 * What runs inside the page, as text: the tests are compiled for Node, which knows no document.
 */

/** Notes every state of the answer that is being written in `seen`. */
export const NOTE_WRITING = `
  window.seen = []
  new MutationObserver(() => {
    const said = document.querySelector('.writing .said')?.textContent ?? ''
    if (said !== seen.at(-1)) seen.push(said)
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
`

export const FIND_FOREIGN = `
  [...document.querySelectorAll('#page *')]
    .filter((element) =>
      /^(script|iframe|object|embed|style|base|link|meta|math|animate|table)$/i.test(element.tagName) ||
      [...element.attributes].some(({ name }) => name.startsWith('on')) ||
      element.id.startsWith('bait') ||
      !/^(#|https?:)/.test(element.getAttribute('href') ?? '#'))
    .map((element) => element.outerHTML.slice(0, 100))
`

/**
 * Asks our server, from a page of another origin, in every way that a browser has. Resolves with what
 * the page learns from each.
 */
export const EVERY_WAY_IN = `async (url, id) => {
  const session = url + '/v1/sessions/' + id
  const nameOf = (error) => error.name
  const ask = (address, options) =>
    fetch(address, options).then((answer) => (answer.type === 'opaque' ? 'opaque' : answer.text()), nameOf)
  const text = JSON.stringify({ text: 'forged' })
  const json = { 'content-type': 'application/json' }
  const loaded = (name, attributes) =>
    new Promise((resolve) => {
      const element = Object.assign(document.createElement(name), attributes)
      element.onload = () => resolve('loaded')
      element.onerror = () => resolve('error')
      document.body.append(element)
    })
  const contentOf = (frame) => {
    try {
      return frame.contentDocument?.body.innerText ?? 'blocked'
    } catch {
      return 'blocked'
    }
  }
  const frameAt = (src, name) =>
    new Promise((resolve) => {
      const frame = Object.assign(document.createElement('iframe'), { src, name })
      frame.onload = () => resolve(frame)
      document.body.append(frame)
    })
  const submit = async () => {
    const target = await frameAt('about:blank', 'target')
    const form = Object.assign(document.createElement('form'), {
      ...{ method: 'post', action: session + '/messages', target: 'target', enctype: 'text/plain' },
    })
    form.append(Object.assign(document.createElement('input'), { name: '{"text":"forged","x":"', value: '"}' }))
    document.body.append(form)
    const answered = new Promise((resolve) => (target.onload = resolve))
    form.submit()
    await answered
    return contentOf(target)
  }
  const events = () =>
    new Promise((resolve) => {
      const source = new EventSource(url + '/v1/events')
      source.onopen = source.onmessage = () => resolve('open')
      source.onerror = () => resolve('error')
    })
  const socket = () =>
    new Promise((resolve) => {
      const opened = new WebSocket(url.replace('http', 'ws') + '/v1/events')
      opened.onopen = () => resolve('open')
      opened.onerror = () => resolve('error')
    })
  return {
    cors: await ask(session + '/transcript'),
    credentials: await ask(url + '/v1/sessions', { credentials: 'include' }),
    json: await ask(session + '/messages', { method: 'POST', headers: json, body: text }),
    remove: await ask(session, { method: 'DELETE' }),
    blind: await ask(session + '/messages', { method: 'POST', mode: 'no-cors', body: text }),
    beacon: navigator.sendBeacon(session + '/stop', text) ? 'sent' : 'refused',
    form: await submit(),
    image: await loaded('img', { src: session + '/export?to=html' }),
    script: await loaded('script', { src: url + '/v1/sessions' }),
    style: await loaded('link', { rel: 'stylesheet', href: url + '/v1/sessions' }),
    frame: contentOf(await frameAt(session + '/transcript', 'frame')),
    events: await events(),
    socket: await socket(),
  }
}`
