// How this code goes wrong, by class: each class finds the places of a parsed source file where its
// mistake can be made, as edits of the text. Whether an edit is still correct by type and clean by
// lint is not asked here; whether it changes any behaviour nobody can ask.
import { SyntaxKind as K } from 'typescript/unstable/ast'
import { TypeFlags as T } from 'typescript/unstable/sync'

/** An edit: these characters are replaced by that text. */
const edit = (from, to, text) => ({ from, to, text })
const replaced = (node, text) => edit(node.getStart(), node.end, text)
const dropped = (node) => edit(node.pos, node.end, '')
const swapped = (a, b) => [replaced(a, b.getText()), replaced(b, a.getText())]

const children = (node) => {
  const all = []
  node.forEachChild((child) => {
    all.push(child)
  })
  return all
}
const isFunction = ({ kind }) =>
  [K.FunctionDeclaration, K.FunctionExpression, K.ArrowFunction, K.MethodDeclaration].includes(kind)
const isAwait = ({ kind }) => kind === K.AwaitExpression
const holds = (node, is) => is(node) || children(node).some((child) => holds(child, is))
/** As `holds`, without what is only defined inside. */
const does = (node, is) =>
  is(node) || children(node).some((child) => !isFunction(child) && does(child, is))
const isWord = ({ kind }) => kind === K.Identifier
const isCall = ({ kind }) => kind === K.CallExpression
/** A name, or a name of something: what may stand twice without a second effect. */
const isName = (node) =>
  isWord(node) || (node.kind === K.PropertyAccessExpression && isName(node.expression))
/** The last word of what is called. */
const called = ({ expression }) =>
  isWord(expression) ? expression.text : (expression?.name?.text ?? '')
const operatorOf = (node) => (node.kind === K.BinaryExpression ? node.operatorToken.kind : null)
const statementsOf = (node) => (node.kind === K.Block ? [...node.statements] : [node])
/** An `if` that leaves: returns, throws, or goes on with the next. */
const leaves = (node) => {
  if (node.kind !== K.IfStatement || node.elseStatement !== undefined) return false
  const last = statementsOf(node.thenStatement).at(-1)
  const ways = [K.ReturnStatement, K.ThrowStatement, K.ContinueStatement, K.BreakStatement]
  return last !== undefined && ways.includes(last.kind)
}
/** What gives the same whichever of two comes first. */
const eitherWay = /^(max|min|later|equals|isSame)$/
/** Words of what is handed back instead of a result. */
const refusing =
  /\b(reject\w*|refus\w*|problem|fail\w*|fault|invalid|unauthorized|notFound|denied)\b/i
/** An `if` that refuses: throws a fault, or returns a rejection, a problem, a refusal. */
const refuses = (node) => {
  if (!leaves(node)) return false
  const last = statementsOf(node.thenStatement).at(-1)
  // A plain error is the assertion of a bug: it refuses nothing that anybody can ask for.
  if (last.kind === K.ThrowStatement) return !last.getText().startsWith('throw new Error(')
  return last.kind === K.ReturnStatement && refusing.test(last.getText())
}
const isPartOf = (node, is) => node !== undefined && (is(node) || isPartOf(node.parent, is))
/** Inside of a constant at the top of the file, and not in a function there. */
const isInTable = (node) => {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (isFunction(at)) return false
    if (at.kind === K.VariableStatement) return at.parent.kind === K.SourceFile
  }
  return false
}
/** The types that a value may be of. */
const typesOf = (type) => {
  if (type === undefined) return []
  return (type.flags & T.Union) === 0 ? [type] : type.getTypes()
}
/** The kind of what is empty among the values of a type; null: it has no such value. */
const emptyKindOf = ({ flags, value }) => {
  if ((flags & T.Literal) !== 0) return value ? null : typeof value
  if ((flags & T.String) !== 0) return 'string'
  if ((flags & T.Number) !== 0) return 'number'
  return (flags & T.Boolean) === 0 ? null : 'boolean'
}
/** Names of texts that are never empty, whatever their type says: an id, a moment, a hash. */
const neverEmpty = /(?:^|_)(?:id|at|sha256)$/
/** The last word of a name. */
const wordOf = (node) => (isWord(node) ? node.text : (node.name?.text ?? ''))
const isNumber = (type) =>
  typesOf(type).length > 0 && typesOf(type).every(({ flags }) => (flags & T.NumberLike) !== 0)
/** What the system's calls take is in the form of a limit and is none. */
const ofSystem = /^O_|_OK$/
/** What a limit counts in, by its name or by its row in the table of limits. */
const unitOf = (node, checker) => {
  if (isWord(node)) return /_(MS|SECONDS|MB)$/.exec(node.text)?.[1]
  const { name } = node.expression
  const row = name && checker.getSymbolAtLocation(name)?.valueDeclaration?.resolve()?.getText()
  return /,\s*'ms',/.test(row ?? '') ? 'MS' : undefined
}
/** How far apart a unit and the next one are. */
const steps = { MS: 1000, SECONDS: 1000, MB: 1024 }
/** Names of sizes that only say how much is moved at a time. */
const ofPieces = /(?:^|_)(?:CHUNK|MORE|PIECE)_BYTES$|_PIECES$/
/** The end of a name, or all of it: `agent_id` and `parent_id` are of one family. */
const families = /(?:^|_|(?<=[a-z])(?=[A-Z]))(ids?|at|by|ms|seq|path|bytes|tokens)$/i
const familyOf = (name) => families.exec(name)?.[1]

/**
 * The classes, by name: what each finds at one node, as lists of edits, one list a mistake.
 */
export const classes = {
  /** What was looked at before an await is not looked at again after it. */
  second_look(node) {
    if (!leaves(node) || node.parent.kind !== K.Block) return []
    const before = [...node.parent.statements].filter((one) => one.end <= node.pos)
    const waited = before.findIndex((one) => does(one, isAwait))
    if (waited === -1 || does(node.expression, isAwait)) return []
    // A look at what the await itself brought is a first one.
    const brought = new Set()
    for (const one of before.slice(waited)) {
      if (one.kind !== K.VariableStatement) continue
      for (const { name } of one.declarationList.declarations) {
        holds(name, (part) => void (isWord(part) && brought.add(part.text)))
      }
    }
    return holds(node.expression, (part) => isWord(part) && brought.has(part.text))
      ? []
      : [[dropped(node)]]
  },

  /** One of a kind for another: arguments, fields of one family, parameters of one type. */
  swapped(node) {
    const pairs = []
    const parts = isCall(node) && !eitherWay.test(called(node)) ? node.arguments : []
    for (let at = 1; at < parts.length; at++) {
      const [a, b] = [parts[at - 1], parts[at]]
      if (isName(a) && isName(b) && a.getText() !== b.getText()) pairs.push(swapped(a, b))
    }
    const fields =
      node.kind === K.ObjectLiteralExpression
        ? node.properties.filter(
            (one) => one.kind === K.PropertyAssignment && isName(one.initializer),
          )
        : []
    for (const [at, a] of fields.entries()) {
      const family = familyOf(a.name.getText())
      const b = fields.slice(at + 1).find((one) => familyOf(one.name.getText()) === family)
      if (family === undefined || b === undefined) continue
      if (a.initializer.getText() !== b.initializer.getText()) {
        pairs.push(swapped(a.initializer, b.initializer))
      }
    }
    if (node.kind === K.PropertyAccessExpression) {
      const family = familyOf(node.name.text)
      const ofFile = new Set()
      if (family !== undefined) {
        holds(node.getSourceFile(), (one) => {
          if (one.kind === K.PropertyAccessExpression && familyOf(one.name.text) === family) {
            if (one.expression.getText() === node.expression.getText()) ofFile.add(one.name.text)
          }
          return false
        })
      }
      ofFile.delete(node.name.text)
      for (const name of ofFile) pairs.push([replaced(node.name, name)])
    }
    return pairs
  },

  /** A member of a closed set goes with its neighbour, or is not in the list. */
  member(node) {
    if (node.kind === K.CaseClause) {
      const clauses = [...node.parent.clauses]
      const next = clauses[clauses.indexOf(node) + 1]
      // The label alone: what stood behind it is left to the one above.
      if (node.statements.length === 0 || next?.kind !== K.CaseClause) return []
      const label = node.getSourceFile().text.slice(node.pos, node.expression.end + 1)
      const own = edit(node.pos, node.expression.end + 1, '')
      const before = clauses[clauses.indexOf(node) - 1]
      if (before?.statements.length !== 0) return []
      return [[own, edit(next.pos, next.pos, label)]]
    }
    if (node.kind === K.ArrayLiteralExpression && node.elements.length > 1) {
      const kinds = node.elements.every(
        (one) => one.kind === K.StringLiteral || (isInTable(node) && isWord(one)),
      )
      return kinds ? node.elements.map((_, at) => [without(node.elements, at)]) : []
    }
    if (node.kind === K.ObjectLiteralExpression && isInTable(node) && node.properties.length > 2) {
      return node.properties.map((_, at) => [without(node.properties, at)])
    }
    const or = operatorOf(node) === K.BarBarToken
    if (
      or &&
      [node.left, node.right].every((one) => isKind(one) || operatorOf(one) === K.BarBarToken)
    ) {
      return isKind(node.right) ? [[replaced(node, node.left.getText())]] : []
    }
    return []
  },

  /** What was written is believed to be on the disk. */
  sync(node) {
    const syncs = /^(f?(data)?sync(Sync)?|sync(ed|Folder|All)|flush|checkpoint)$/
    if (!isCall(node) || !syncs.test(called(node))) return []
    const statement = isAwait(node.parent) ? node.parent.parent : node.parent
    if (statement.kind === K.ExpressionStatement) return [[dropped(statement)]]
    return isAwait(node.parent) ? [[replaced(node, 'Promise.resolve()')]] : []
  },

  /** Secrets are looked for in what was cut, or not at all. */
  redaction(node) {
    const redacts = /^(redact(ed)?\w*|safe(Line)?|escaped|withoutSecrets)$/
    const cuts = /^(cut\w*|shortened|clip\w*|head|slice|truncated?|trim\w*|firstLine|oneLine)$/
    if (!isCall(node)) return []
    const [first] = node.arguments
    const found = []
    if (redacts.test(called(node)) && first !== undefined && node.arguments.length === 1) {
      found.push([replaced(node, first.getText())])
    }
    if (first !== undefined && isCall(first) && first.arguments.length > 0) {
      const [outer, inner] = [called(node), called(first)]
      const isPair = (a, b) => redacts.test(a) && cuts.test(b)
      if (isPair(outer, inner) || isPair(inner, outer)) {
        const rest = (one) =>
          [...one.arguments]
            .slice(1)
            .map((part) => `, ${part.getText()}`)
            .join('')
        const name = (one) => one.expression.getText()
        const now = `${name(node)}(${first.arguments[0].getText()}${rest(node)})`
        found.push([replaced(node, `${name(first)}(${now}${rest(first)})`)])
      }
    }
    return found
  },

  /** One of two conditions is not asked. */
  condition(node) {
    const joins = [K.AmpersandAmpersandToken, K.BarBarToken]
    if (!joins.includes(operatorOf(node))) return []
    return [[replaced(node, node.left.getText())], [replaced(node, node.right.getText())]]
  },

  /**
   * A named limit holds one later or one earlier. A time is in another unit instead, and so is
   * the size of what is read or written piece by piece: there one more changes nothing.
   */
  limit(node, checker) {
    const isLimit =
      (node.kind === K.PropertyAccessExpression &&
        node.name.text === 'value' &&
        /^limits\b/.test(node.expression.getText())) ||
      (isWord(node) &&
        /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(node.text) &&
        !ofSystem.test(node.text) &&
        isNumber(checker.getTypeAtLocation(node)))
    const within = [K.BinaryExpression, K.CallExpression]
    if (!isLimit || !within.includes(node.parent.kind) || node.parent.expression === node) return []
    const text = node.getText()
    const unit = steps[unitOf(node, checker)] ?? (ofPieces.test(text) ? 1024 : null)
    return unit === null
      ? ['+', '-'].map((sign) => [replaced(node, `(${text} ${sign} 1)`)])
      : ['*', '/'].map((sign) => [replaced(node, `(${text} ${sign} ${unit})`)])
  },

  /** A field of a written event says nothing. */
  event_field(node) {
    if (node.kind !== K.ObjectLiteralExpression || !isPartOf(node.parent, isWrite)) return []
    if (!node.properties.some((one) => one.name?.getText() === 'type')) return []
    return node.properties.flatMap((one, at) => {
      const name = one.name?.getText()
      if (name === 'type' || name === 'id') return []
      if (one.kind === K.SpreadAssignment) return [[without(node.properties, at)]]
      const nothing = one.kind === K.ShorthandPropertyAssignment ? name : one.initializer?.getText()
      if (nothing === undefined || /^(null|\[\]|0|false|'')$/.test(nothing)) return []
      return ['null', '[]', '0'].map((none) => [replaced(one, `${name}: ${none}`)])
    })
  },

  /** The boundary itself is on the other side. */
  boundary(node) {
    const turned = {
      [K.LessThanToken]: '<=',
      [K.LessThanEqualsToken]: '<',
      [K.GreaterThanToken]: '>=',
      [K.GreaterThanEqualsToken]: '>',
    }
    const other = turned[operatorOf(node)]
    return other === undefined ? [] : [[replaced(node.operatorToken, other)]]
  },

  /** What is refused is taken. */
  refusal(node) {
    return refuses(node) ? [[dropped(node)]] : []
  },

  /** Nothing and none are one: null passes for 0, and 0 for null. */
  none(node, checker) {
    const operator = operatorOf(node)
    const isOr = operator === K.QuestionQuestionToken
    const compares = [K.ExclamationEqualsEqualsToken, K.EqualsEqualsEqualsToken].includes(operator)
    if (!isOr && !(compares && node.right.kind === K.NullKeyword)) return []
    // Only where there is something that counts as nothing; an object and a list are never nothing.
    const kinds = typesOf(checker.getTypeAtLocation(node.left)).map(emptyKindOf)
    const empty = kinds.filter((kind) => kind !== null && (isOr || kind !== 'string'))
    if (empty.length === 0 || neverEmpty.test(wordOf(node.left))) return []
    // What stands in for nothing is the empty value itself: then both are the same.
    const own = { "''": 'string', 0: 'number', false: 'boolean' }[node.right.getText()]
    if (isOr && empty.every((kind) => kind === own)) return []
    if (isOr) return [[replaced(node.operatorToken, '||')]]
    const left = node.left.getText()
    const is = operator === K.EqualsEqualsEqualsToken
    return [[replaced(node, is ? `!${left}` : `Boolean(${left})`)]]
  },

  /** There is only ever one: the first for the last, some for all, every for the chosen. */
  one_of_a_kind(node) {
    if (!isCall(node) || node.expression.kind !== K.PropertyAccessExpression) return []
    const { name, expression } = node.expression
    const others = {
      __proto__: null,
      find: 'findLast',
      findLast: 'find',
      some: 'every',
      every: 'some',
      indexOf: 'lastIndexOf',
      lastIndexOf: 'indexOf',
    }
    const other = others[name.text]
    // What is looked for by its id, or by itself, is one only from whichever end.
    if (/\bid === |^\(?(\w+)\)? => \1 === /.test(node.arguments[0]?.getText() ?? '')) return []
    if (other !== undefined) return [[replaced(name, other)]]
    if (name.text === 'filter') return [[replaced(node, expression.getText())]]
    if (name.text === 'at' && node.arguments[0]?.getText() === '-1') {
      return [[replaced(node.arguments[0], '0')]]
    }
    return []
  },

  /** What takes its turn does not wait for it. */
  order(node) {
    const isStep = node.kind === K.ExpressionStatement && isAwait(node.expression)
    if (!isStep || node.parent.kind !== K.Block) return []
    const all = [...node.parent.statements]
    const next = all[all.indexOf(node) + 1]
    if (next?.kind !== K.ExpressionStatement) return []
    return [swapped(node, next)]
  },
}

/** Words that a comparison is made with: one member of a closed set. */
const isKind = (node) =>
  operatorOf(node) === K.EqualsEqualsEqualsToken && node.right.kind === K.StringLiteral
/** What writes an event, or gives events to who does. */
const isWrite = (node) =>
  (isCall(node) && /^(emit|emitted|commit\w*|push)$/.test(called(node))) ||
  (isFunction(node) && /\bEvent\b|\bEvent\[\]/.test(node.type?.getText() ?? ''))

/** A list without one of its parts, and without the comma that goes with it. */
function without(parts, at) {
  const part = parts[at]
  return at + 1 < parts.length
    ? edit(part.pos, parts[at + 1].pos, '')
    : edit(parts[at - 1].end, part.end, '')
}

/** Every mistake that can be made in a file: `[{ class, edits }]`, in the order of the text. */
export function mistakesIn(file, checker) {
  const found = []
  const walk = (node) => {
    for (const [name, finds] of Object.entries(classes)) {
      for (const edits of finds(node, checker)) found.push({ class: name, edits })
    }
    for (const child of children(node)) walk(child)
  }
  walk(file)
  return found
}

/** The text with the edits in it; they do not overlap. */
export function edited(text, edits) {
  let now = text
  for (const { from, to, text: put } of edits.toSorted((a, b) => b.from - a.from)) {
    now = now.slice(0, from) + put + now.slice(to)
  }
  return now
}
