// SPDX-License-Identifier: Apache-2.0

// Google's Node.js client against a running server; BIGTABLE_EMULATOR_HOST says where it is.
// Prints a line a case and ends with "N passed, N failed". Needs @google-cloud/bigtable.
'use strict';

const assert = require('assert').strict;
const {Bigtable} = require('@google-cloud/bigtable');

const bigtable = new Bigtable({projectId: 'conformance'});
const instance = bigtable.instance('node');
const table = instance.table('people');

const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;

const cases = [];

function test(name, body) {
  cases.push({name, body});
}

async function refused(promise, code) {
  await assert.rejects(promise, error => {
    assert.equal(error.code, code, `${error.code} is not ${code}: ${error.message}`);
    return true;
  });
}

// The rows as "key family:qualifier=value[labels] ...".
async function read(options) {
  const [rows] = await table.getRows(options);
  return rows.map(row => {
    let line = row.id;
    for (const family of Object.keys(row.data).sort()) {
      for (const [qualifier, cells] of Object.entries(row.data[family])) {
        for (const cell of cells) {
          const labels = cell.labels && cell.labels.length > 0 ? `[${cell.labels}]` : '';
          line += ` ${family}:${qualifier}=${cell.value}${labels}`;
        }
      }
    }
    return line;
  });
}

test('create and list', async () => {
  const [exists] = await table.exists();
  if (exists) {
    await table.delete();
  }
  await table.create({
    families: [
      {name: 'cf', rule: {versions: 3}},
      {name: 'other', rule: {age: {seconds: 432000, nanos: 0}}},
    ],
    splits: [Buffer.from('m')],
  });
  const [tables] = await instance.getTables();
  assert.deepEqual(tables.map(one => one.id), ['people']);
  await refused(table.create(), ALREADY_EXISTS);
});

test('bulk write', async () => {
  for (let start = 0; start < 2000; start += 500) {
    const entries = [];
    for (let i = start; i < start + 500; i++) {
      entries.push({
        key: `row-${String(i).padStart(5, '0')}`,
        data: {
          cf: {n: {value: `${i}`, timestamp: 1000000000}},
          other: {even: {value: i % 2 === 0 ? 'yes' : 'no'}},
        },
      });
    }
    await table.insert(entries);
  }
  assert.equal((await read()).length, 2000);
});

test('an unknown family is not found', async () => {
  await assert.rejects(
    table.insert([{key: 'x', data: {nope: {q: 'v'}}}]),
    error => error.errors[0].code === NOT_FOUND
  );
});

test('ranges and keys', async () => {
  const filter = [{family: 'cf'}];
  assert.deepEqual(
    await read({ranges: [{start: 'row-00010', end: 'row-00011'}], keys: ['row-00100'], filter}),
    ['row-00010 cf:n=10', 'row-00011 cf:n=11', 'row-00100 cf:n=100']
  );
  assert.deepEqual(
    await read({
      start: {value: 'row-00010', inclusive: false},
      end: {value: 'row-00012', inclusive: false},
      filter,
    }),
    ['row-00011 cf:n=11']
  );
  assert.equal((await read({prefix: 'row-001', limit: 17})).length, 17);
  const [exists] = await table.row('absent').exists();
  assert.equal(exists, false);
});

test('filters', async () => {
  assert.deepEqual(
    await read({filter: [{row: /row-0000./}, {family: 'cf'}, {column: /n/}, {value: /[3-5]/}]}),
    ['row-00003 cf:n=3', 'row-00004 cf:n=4', 'row-00005 cf:n=5']
  );
  const interleave = [
    [{value: {start: '1999', end: '1999'}}],
    [{column: {family: 'cf', start: 'n', end: 'n'}}, {value: '5'}, {label: 'five'}],
  ];
  assert.deepEqual(await read({filter: [{interleave}]}), [
    'row-00005 cf:n=5[five]',
    'row-01999 cf:n=1999',
  ]);
  const condition = {test: [{value: 'yes'}], pass: [{all: true}], fail: [{all: false}]};
  assert.equal((await read({start: 'row-00000', end: 'row-00009', filter: [{condition}]})).length, 5);
  assert.deepEqual(await read({filter: [{row: {cellLimit: 1}}, {value: {strip: true}}], limit: 2}), [
    'row-00000 cf:n=',
    'row-00001 cf:n=',
  ]);
  await refused(read({filter: [{value: '[a'}]}), INVALID_ARGUMENT);
});

test('a read that is ended early', async () => {
  const stream = table.createReadStream();
  let seen = 0;
  await new Promise((resolve, reject) => {
    stream.on('error', reject);
    stream.on('data', () => {
      seen++;
      if (seen === 1) {
        stream.end();
        resolve();
      }
    });
  });
  assert.equal((await read({limit: 1})).length, 1);
});

test('check and mutate', async () => {
  const row = table.row('cas');
  const set = (qualifier, value) => ({
    method: 'insert',
    data: {cf: {[qualifier]: {value, timestamp: 1000}}},
  });
  const config = {onMatch: [set('r', 'was one')], onNoMatch: [set('q', '1')]};
  assert.equal((await row.filter([{value: '1'}], config))[0], false);
  assert.equal((await row.filter([{value: '1'}], config))[0], true);
  assert.deepEqual(await read({keys: ['cas']}), ['cas cf:q=1 cf:r=was one']);
});

test('read, modify, write', async () => {
  const row = table.row('counter');
  assert.equal((await row.increment('cf:n', 5))[0], 5);
  assert.equal((await row.increment('cf:n', 7))[0], 12);
  await row.createRules([{column: 'cf:s', append: 'ab'}]);
  await row.createRules([{column: 'cf:s', append: 'cd'}]);
  const [cells] = await row.get(['cf:s']);
  assert.equal(cells.cf.s[0].value, 'abcd');
  await refused(table.row('cas').increment('cf:q', 1), FAILED_PRECONDITION);
});

test('deletes', async () => {
  const row = table.row('gone');
  await row.save({cf: {a: '1', b: '2'}, other: {c: '3'}});
  await row.deleteCells(['cf:a']);
  assert.deepEqual(await read({keys: ['gone']}), ['gone cf:b=2 other:c=3']);
  await row.deleteCells(['cf']);
  assert.deepEqual(await read({keys: ['gone']}), ['gone other:c=3']);
  await row.delete();
  assert.deepEqual(await read({keys: ['gone']}), []);
});

test('large values', async () => {
  const value = Buffer.alloc(5 * 1024 * 1024, 'abcdefgh');
  await table.row('large').save({cf: {v: {value, timestamp: 1000}}});
  const [row] = await table.row('large').get({decode: false});
  assert.ok(value.equals(row.data.cf.v[0].value));
});

test('sample keys', async () => {
  const [samples] = await table.sampleRowKeys();
  assert.ok(samples.some(sample => sample.key.toString() === 'm'));
});

test('families and policies', async () => {
  await table.createFamily('third', {rule: {versions: 1}});
  await refused(table.createFamily('third'), ALREADY_EXISTS);
  const family = table.family('third');
  await family.setMetadata({rule: {versions: 2, age: {seconds: 3600, nanos: 0}, union: true}});
  const [metadata] = await family.getMetadata();
  assert.equal(metadata.gcRule.rule, 'union');
  const [families] = await table.getFamilies();
  assert.deepEqual(families.map(one => one.id).sort(), ['cf', 'other', 'third']);
  await family.delete();
  assert.equal((await family.exists())[0], false);
});

test('dropping rows', async () => {
  await table.deleteRows('row-00');
  assert.deepEqual(await read({prefix: 'row-00'}), []);
  assert.equal((await read({prefix: 'row-01'})).length, 1000);
  await table.truncate();
  assert.deepEqual(await read(), []);
});

test('app profiles', async () => {
  const profile = instance.appProfile('one');
  if ((await profile.exists())[0]) {
    await profile.delete({ignoreWarnings: true});
  }
  await profile.create({
    routing: instance.cluster('local-c1'),
    allowTransactionalWrites: true,
    description: 'test',
    ignoreWarnings: true,
  });
  const [metadata] = await profile.getMetadata();
  assert.equal(metadata.description, 'test');
  assert.match(metadata.singleClusterRouting.clusterId, /local-c1/);
  const [profiles] = await instance.getAppProfiles();
  assert.ok(profiles.some(one => one.id === 'one'));
  await profile.delete({ignoreWarnings: true});
  assert.equal((await profile.exists())[0], false);
});

test('transactions need the profile', async () => {
  const profile = instance.appProfile('many');
  if (!(await profile.exists())[0]) {
    await profile.create({routing: 'any', ignoreWarnings: true});
  }
  const many = new Bigtable({projectId: 'conformance', appProfileId: 'many'});
  const row = many.instance('node').table('people').row('x');
  await refused(row.increment('cf:n', 1), FAILED_PRECONDITION);
  await many.close();
});

test('dropping the table', async () => {
  await table.delete();
  assert.equal((await table.exists())[0], false);
  await refused(read(), NOT_FOUND);
});

async function main() {
  let passed = 0;
  let failed = 0;
  for (const {name, body} of cases) {
    try {
      await body();
      passed++;
      console.log(`passed  ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}: ${String(error.message).slice(0, 600)}`);
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}

main();
